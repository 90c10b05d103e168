"""The items of an answer to a pattern query: paths, nodes, texts, and what a hybrid search found
instead.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from kgagent.answers.found import hybrid_items
from kgagent.answers.items import (
    Item,
    JsonRecord,
    Line,
    NodeItem,
    PlainItem,
    RelationshipItem,
    RenderState,
    item_record,
    kind_text,
    owner_mark,
)
from kgagent.answers.safe_text import safe_text
from kgagent.formatting import in_one_line
from kgagent.models.graph import GraphRelationship
from kgagent.models.matched_path import Chunk, MatchedPath, MatchedRelationship, PatternResult
from kgagent.models.when import with_time

FALLBACK = "hybrid"
"""Field of the answer that has the results of a hybrid search, if no path matched."""

MAX_NEAREST = 5
"""Maximum number of these results: they do not answer the pattern, but may help to correct it."""

_ENDS = ("from_entity_key", "to_entity_key", "from_name", "to_name")


def pattern_items(result: PatternResult) -> list[Item]:
    """The items of a result, paths first; each path brings the records of its nodes."""
    context = result.context
    return [
        *(PathItem(path) for path in context.matched_paths),
        *(_PathNodeItem(node, "nodes") for node in context.nodes),
        *(_ChunkItem(chunk) for chunk in result.chunks),
        *(PlainItem(None, "entry_points", node.entity_key) for node in context.entry_points),
        *(PlainItem(None, "keywords", word) for word in context.keywords),
        *(hybrid_items(result.hybrid, FALLBACK, MAX_NEAREST) if result.hybrid is not None else ()),
    ]


@dataclass(frozen=True)
class PathItem(Item):
    """A path that matched.

    Its record: `pattern_id`, the pattern that it matched; `path`, the path in one line; `nodes`,
    entity_key of its nodes, whose records are in `nodes` of the answer; `relationships`, in order;
    `score`, what it is ranked by; `explanation`, how the score was computed; `steps`, positions in
    `nodes` of the nodes at which the steps arrive, if a step follows several relationships.
    """

    path: MatchedPath

    def names(self) -> Iterator[tuple[str, str]]:
        """The nodes."""
        for item in self._nodes():
            yield from item.names()

    def lines(self, state: RenderState) -> list[Line]:
        """The path, and a line for each of its relationships and nodes of which more is known,
        unless it is repeated.

        A path of one relationship is the line of that relationship.
        """
        lines = [self._chain(state)] if len(self.path.relationships) > 1 else []
        for item in self._relationships():
            [line] = item.lines(state)
            statement = f"{line.head}: {line.description}"
            if not lines or (
                _says_more(item.relationship, state) and statement not in state.stated
            ):
                lines.append(line)
            state.stated.add(statement)
        return [*lines, *(line for item in self._nodes() for line in item.lines(state))]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:
        """The path, and its nodes that no path before had."""
        path = self.path
        is_one_hop_each = path.steps == tuple(range(1, len(path.nodes)))
        record: JsonRecord = {
            "pattern_id": path.pattern_id,
            "path": path.to_path_string(),
            "nodes": [node.entity_key for node in path.nodes],
            "relationships": [_relationship_record(one, state) for one in path.relationships],
            "score": round(path.score, 4),
            "explanation": path.explanation,
            **({} if is_one_hop_each else {"steps": list(path.steps)}),
        }
        return [
            ("paths", record),
            *(record for item in self._nodes() for record in item.records(state)),
        ]

    def _chain(self, state: RenderState) -> Line:
        """The path in one line: `Ann -[mentor]-> Bo <-[friend]- Cleo`."""
        names = [state.name(node.entity_key, node.name, node.label) for node in self.path.nodes]
        parts = names[:1]
        for relationship, name in zip(self.path.relationships, names[1:], strict=True):
            start, end = ("<-", "-") if relationship.ends_reversed else ("-", "->")
            when, said = safe_text(relationship.when or ""), relationship.last_said
            kind = with_time(kind_text(relationship), when, state.day, said)
            parts.append(f"{start}[{kind}]{end} {name}")
        return Line(" ".join(parts) + owner_mark(self.path.start))

    def _nodes(self) -> "list[_PathNodeItem]":
        return [_PathNodeItem(node, "nodes", is_named=True) for node in self.path.nodes]

    def _relationships(self) -> list[RelationshipItem]:
        return [
            RelationshipItem(relationship, "relationships")
            for relationship in self.path.relationships
        ]


class _PathNodeItem(NodeItem):
    """A node, where it appears first."""

    def lines(self, state: RenderState) -> list[Line]:
        """The node, if no line before described it."""
        return [] if self._is_described(state) else super().lines(state)

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:
        """The node, if it is not among those before."""
        return [] if self._is_described(state) else super().records(state)

    def _is_described(self, state: RenderState) -> bool:
        is_described = self.node.entity_key in state.described
        state.described.add(self.node.entity_key)
        return is_described


@dataclass(frozen=True)
class _ChunkItem(Item):
    """A node with text."""

    chunk: Chunk

    def names(self) -> Iterator[tuple[str, str]]:
        """The node."""
        yield self.chunk.node.entity_key, self.chunk.node.name

    def lines(self, state: RenderState) -> list[Line]:
        """The text, unless the answer has it with the node."""
        node = self.chunk.node
        if node.entity_key in state.described:
            return []
        name = state.name(node.entity_key, node.name, node.label) + owner_mark(node)
        head = f"Near: {name} {self.chunk.similarity:.2f}"
        return [Line(head, in_one_line(self.chunk.text))]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:
        """The text with its node."""
        return [("chunks", self.chunk.to_dict() | {"node": item_record(self.chunk.node, state)})]


def _says_more(relationship: GraphRelationship, state: RenderState) -> bool:
    """Whether more is known of a relationship than its nodes and its type."""
    levels = (relationship.attitude, relationship.proximity)
    return any(
        (
            relationship.description,
            *levels,
            state.properties(relationship),
            relationship.notes,
        )
    )


def _relationship_record(relationship: MatchedRelationship, state: RenderState) -> JsonRecord:
    """A relationship without its nodes, which the path has."""
    record = item_record(relationship, state)
    direction = {"direction": relationship.direction.value}
    return {name: value for name, value in record.items() if name not in _ENDS} | direction
