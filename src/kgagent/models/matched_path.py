"""The result of a pattern query: paths with scores and explanations, and the texts near them."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, JsonValue

from kgagent.models.graph import GraphModel, GraphNode, GraphRelationship
from kgagent.models.hybrid import HybridSearchResult
from kgagent.models.pattern import StepDirection
from kgagent.models.pattern_query import RankingStrategy, ScoreComponent

PatternStrategy = Literal["patterns", "traversal", "hybrid"]
"""What produced a result: patterns, an expansion from targets, or a hybrid search."""


class MatchedNode(GraphNode):
    """A node of a path. Its key is the element id if it has none.

    Attributes:
        labels: all of its labels if it has several; `label` is the first, or the first that the
            ontology has.
    """

    labels: tuple[str, ...] = ()


class MatchedRelationship(GraphRelationship):
    """A relationship of a path; `from` is the node before it on the path, and `ends_reversed` says
    whether it is the node where the relationship ends.
    """

    @property
    def direction(self) -> StepDirection:
        """Direction in which the path follows it."""
        return StepDirection.INCOMING if self.ends_reversed else StepDirection.OUTGOING

    @property
    def type_text(self) -> str:
        """The Neo4j type, followed by the free word if there is one."""
        return (
            f"{self.neo4j_type}: {self.relationship_type}"
            if self.relationship_type
            else self.neo4j_type
        )


class MatchedPath(GraphModel):
    """A path that matches a pattern.

    Attributes:
        pattern_id: name of the pattern; for a sequence of patterns, their names joined by " > ".
        nodes: nodes from start to end.
        relationships: relationships between the nodes, one fewer.
        steps: position in `nodes` of the node at which each step arrives.
        properties: metrics of the path: `hops`, and the components of the score that were computed.
        score: what paths are ranked by, greater is better; a path with a past relationship has 1
            less.
        explanation: how the score was computed.
    """

    pattern_id: str
    nodes: tuple[MatchedNode, ...]
    relationships: tuple[MatchedRelationship, ...]
    steps: tuple[int, ...]
    properties: Mapping[str, JsonValue]
    score: float
    explanation: str

    @property
    def start(self) -> MatchedNode:
        """The first node."""
        return self.nodes[0]

    @property
    def end(self) -> MatchedNode:
        """The last node."""
        return self.nodes[-1]

    def node_at_step(self, step: int) -> MatchedNode:
        """The node at which a step arrives.

        Args:
            step: number of the step, from 0.

        Raises:
            IndexError: the path has no such step.
        """
        return self.nodes[self.steps[step]]

    def to_path_string(self) -> str:
        """The path in one line: `Ann -[has_relationship_with: mentor]-> Bob <-[engages_with]-
        Cleo`.
        """
        parts = [self.start.name]
        for relationship, node in zip(self.relationships, self.nodes[1:], strict=True):
            start, end = ("<-", "-") if relationship.ends_reversed else ("-", "->")
            parts.append(f"{start}[{relationship.type_text}]{end} {node.name}")
        return " ".join(parts)


class Chunk(GraphModel):
    """A node with text that is on a path or adjacent to one.

    Attributes:
        node: the node.
        text: its text.
        linked_to: keys of the nodes of paths that it is adjacent to, or is.
        similarity: plain cosine with the query, -1 to 1.
    """

    node: MatchedNode
    text: str
    linked_to: tuple[str, ...]
    similarity: float


class ReasoningContext(GraphModel):
    """What matched, for a model to reason with.

    Attributes:
        matched_paths: paths, best first.
        nodes: distinct nodes of all paths, in the order of the paths.
        relationships: distinct relationships of an expansion from targets; empty for patterns.
        entry_points: nodes to which the targets were resolved.
        root_nodes: `entity_key` of the distinct start nodes of the paths, in the order of the
            paths.
        keywords: names of nodes and types of relationships that occur on most paths, at most 20.
        max_depth: maximum number of relationships that a path of the query may have.
        explored: number of matching paths that were examined, by pattern.
        truncated: whether a limit ended the examination, so that better paths may exist.
    """

    matched_paths: tuple[MatchedPath, ...] = ()
    nodes: tuple[MatchedNode, ...] = ()
    relationships: tuple[MatchedRelationship, ...] = ()
    entry_points: tuple[MatchedNode, ...] = ()
    root_nodes: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    max_depth: int = 0
    explored: Mapping[str, int] = Field(default_factory=dict)
    truncated: bool = False

    @property
    def has_matched_paths(self) -> bool:
        """Whether any path matched."""
        return bool(self.matched_paths)


class PatternResult(GraphModel):
    """The result of a `GraphQuery`.

    Attributes:
        strategy: what produced the result: "patterns", "traversal" (an expansion from targets), or
            "hybrid" (a hybrid search because no path matched, or because the query has neither
            patterns nor a traversal).
        query: the question in plain words, as it was given.
        context: paths and nodes.
        chunks: nodes with text near the paths, most similar first.
        hybrid: result of the hybrid search.
        ranking: how the paths are ranked.
        weights: weights of the components, for HYBRID.
        warnings: what was omitted, ignored or assumed, and why.
        elapsed_ms: duration of the query in milliseconds.
        metadata: `matchedPaths`, the number of returned paths.
    """

    strategy: PatternStrategy
    query: str | None = None
    context: ReasoningContext = ReasoningContext()
    chunks: tuple[Chunk, ...] = ()
    hybrid: HybridSearchResult | None = None
    ranking: RankingStrategy | None = None
    weights: Mapping[ScoreComponent, float] | None = None
    warnings: tuple[str, ...] = ()
    elapsed_ms: float = 0.0
    metadata: Mapping[str, int] = Field(default_factory=lambda: {"matchedPaths": 0})

    @property
    def paths(self) -> tuple[MatchedPath, ...]:
        """The paths, best first."""
        return self.context.matched_paths
