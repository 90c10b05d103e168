"""The items of an answer to a pattern query: paths, nodes, texts, and what a hybrid search found instead."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from kgagent.formatting import in_one_line
from kgagent.graph.property_names import TIMES
from kgagent.models.answer_items import Item, JsonRecord, Line, RenderState
from kgagent.models.hybrid import hybrid_items
from kgagent.models.matched_path import Chunk, MatchedNode, MatchedPath, MatchedRelationship, PatternResult
from kgagent.models.note import Note, parse_notes
from kgagent.models.pattern import StepDirection
from kgagent.ontology import Ontology
from kgagent.tools.payload import compact_text

NAMES_OF_TYPES = frozenset({"relationship_type"})
"""Properties of a relationship that the line of a path contains already."""


def pattern_items(result: PatternResult, ontology: Ontology) -> list[Item]:
    """The items of a result, paths first; each path brings the records of its nodes."""
    context = result.context
    return [
        *(PathItem(path, ontology) for path in context.matched_paths),
        *(_NodeItem(node, ontology) for node in context.nodes),
        *(_ChunkItem(chunk, ontology) for chunk in result.chunks),
        *(_WordItem("entry_points", "Target", node.entity_key) for node in context.entry_points),
        *(_WordItem("keywords", "Keyword", word) for word in context.keywords),
        *(hybrid_items(result.hybrid) if result.hybrid is not None else ()),
    ]


@dataclass(frozen=True)
class PathItem(Item):
    """A path that matched.

    Its record: `pattern_id`, the pattern that it matched; `path`, the path in one line; `nodes`, entity_key of its
    nodes, whose records are in `nodes` of the answer; `relationships`, in order; `score`, what it is ranked by;
    `explanation`, how the score was computed; `steps`, positions in `nodes` of the nodes at which the steps arrive, if
    a step follows several relationships.
    """

    path: MatchedPath
    ontology: Ontology

    def entity_keys(self) -> Iterator[str]:
        """The nodes."""
        for node in self.path.nodes:
            yield node.entity_key

    def notes(self) -> Sequence[Note]:
        """The notes of its relationships and nodes."""
        of_relationships = (
            parse_notes(_relationship_properties(one, self.ontology).get("notes"))
            for one in self.path.relationships
            if one.neo4j_type in self.ontology.relationships
        )
        of_nodes = (_NodeItem(node, self.ontology).notes() for node in self.path.nodes)
        return [note for notes in (*of_relationships, *of_nodes) for note in notes]

    def lines(self, state: RenderState) -> list[Line]:
        """The path with the properties of its relationships, and a line for each node that says more."""
        path = self.path
        parts = [_name(path.start, state)]
        known: list[str] = []
        noted: list[tuple[str, tuple[Note, ...]]] = []
        for relationship, node in zip(path.relationships, path.nodes[1:], strict=True):
            incoming = relationship.direction is StepDirection.INCOMING
            start, end = ("<-", "-") if incoming else ("-", "->")
            parts += [f"{start}[{in_one_line(relationship.type_text)}]{end}", _name(node, state)]
            said = _relationship_properties(relationship, self.ontology)
            if relationship.neo4j_type in self.ontology.relationships:
                notes = parse_notes(said.pop("notes", None))
                noted += [(str(said.get("relationship_type") or relationship.neo4j_type), notes)] if notes else []
            known.append(_text({name: value for name, value in said.items() if name not in NAMES_OF_TYPES}))
        described = " | ".join(filter(None, known))
        more = [line for node in path.nodes for line in _NodeItem(node, self.ontology).lines(state)]
        line = state.line(" ".join(parts), described, _each_with_its_type(noted), state.relationship_hint)
        return [line, *more]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:
        """The path, and its nodes that no path before had."""
        path = self.path
        is_one_hop_each = path.steps == tuple(range(1, len(path.nodes)))
        record: JsonRecord = {
            "pattern_id": path.pattern_id,
            "path": path.to_path_string(),
            "nodes": [node.entity_key for node in path.nodes],
            "relationships": [
                _without_empty(
                    {
                        "neo4j_type": one.neo4j_type,
                        "direction": one.direction.value,
                        "properties": _relationship_properties(one, self.ontology),
                    }
                )
                for one in path.relationships
            ],
            "score": round(path.score, 4),
            "explanation": path.explanation,
            **({} if is_one_hop_each else {"steps": list(path.steps)}),
        }
        nodes = [record for node in path.nodes for record in _NodeItem(node, self.ontology).records(state)]
        return [("paths", record), *nodes]


@dataclass(frozen=True)
class _NodeItem(Item):
    """A node; only where it appears first."""

    node: MatchedNode
    ontology: Ontology

    def entity_keys(self) -> Iterator[str]:
        """The node."""
        yield self.node.entity_key

    def notes(self) -> Sequence[Note]:
        """The notes of a node of kgagent's."""
        properties = _node_properties(self.node, self.ontology)
        return parse_notes(properties.get("notes")) if _is_ours(self.node, self.ontology) else ()

    def lines(self, state: RenderState) -> list[Line]:
        """The node's properties, if it has any and no line before has them."""
        properties = _node_properties(self.node, self.ontology)
        is_named = self.node.entity_key in state.mentioned
        if self.node.entity_key in state.described or (is_named and not properties):
            return []
        state.described.add(self.node.entity_key)
        if _is_ours(self.node, self.ontology):
            properties.pop("notes", None)
        return [state.line(_name(self.node, state), _text(properties), self.notes(), state.node_hint)]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:
        """The node, if it is not among those before."""
        if self.node.entity_key in state.described:
            return []
        state.described.add(self.node.entity_key)
        properties = _node_properties(self.node, self.ontology)
        return [("nodes", self.node.model_copy(update={"properties": properties}).to_dict())]


@dataclass(frozen=True)
class _ChunkItem(Item):
    """A node with text."""

    chunk: Chunk
    ontology: Ontology

    def entity_keys(self) -> Iterator[str]:
        """The node."""
        yield self.chunk.node.entity_key

    def lines(self, state: RenderState) -> list[Line]:
        """The text, unless the answer has it with the node."""
        if self.chunk.node.entity_key in state.described:
            return []
        head = f"Near: {_name(self.chunk.node, state)} {self.chunk.similarity:.2f}"
        return [Line(head, in_one_line(self.chunk.text))]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:  # noqa: ARG002
        """The text with its node."""
        properties = _node_properties(self.chunk.node, self.ontology)
        node = self.chunk.node.model_copy(update={"properties": properties})
        return [("chunks", self.chunk.model_copy(update={"node": node}).to_dict())]


@dataclass(frozen=True)
class _WordItem(Item):
    """An entity_key or a word in a list."""

    section: str
    kind: str
    word: str

    def entity_keys(self) -> Iterator[str]:
        """None."""
        return iter(())

    def lines(self, state: RenderState) -> list[Line]:  # noqa: ARG002
        """Nothing: paths and nodes name them."""
        return []

    def records(self, state: RenderState) -> list[tuple[str, Any]]:  # noqa: ARG002
        """The word."""
        return [(self.section, self.word)]


def _each_with_its_type(noted: Sequence[tuple[str, Sequence[Note]]]) -> list[Note]:
    """The notes of the relationships of a path, which begin with the type if several relationships have notes."""
    if len(noted) == 1:
        return list(noted[0][1])
    return [note.model_copy(update={"content": f"{kind}: {note.content}"}) for kind, notes in noted for note in notes]


def _name(node: MatchedNode, state: RenderState) -> str:
    return state.name(node.entity_key, node.name, node.labels[0] if node.labels else "")


def _text(properties: Mapping[str, JsonValue]) -> str:
    described = properties.get("description")
    others = {name: value for name, value in properties.items() if name != "description"}
    text = compact_text(described) if described else ""
    separator = " " if text.endswith((".", "!", "?")) else ". "
    return separator.join(filter(None, (text, compact_text(others))))


def _node_properties(node: MatchedNode, ontology: Ontology) -> dict[str, JsonValue]:
    """The properties without what kgagent itself stores on every node."""
    properties = dict(node.properties)
    return _without_times(properties) if _is_ours(node, ontology) else properties


def _is_ours(node: MatchedNode, ontology: Ontology) -> bool:
    """Whether a node has a label of the ontology, and so the properties that kgagent stores."""
    return bool(ontology.labels.keys() & set(node.labels))


def _relationship_properties(relationship: MatchedRelationship, ontology: Ontology) -> dict[str, JsonValue]:
    """The properties without what kgagent itself stores on every relationship."""
    properties = dict(relationship.properties)
    if relationship.neo4j_type not in ontology.relationships:
        return properties
    defaults = ontology.relationship_defaults
    return {name: value for name, value in _without_times(properties).items() if defaults.get(name) != value}


def _without_times(properties: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: value for name, value in properties.items() if name not in TIMES}


def _without_empty(record: JsonRecord) -> JsonRecord:
    return {name: value for name, value in record.items() if value not in (None, "", [], {})}
