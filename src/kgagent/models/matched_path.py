"""What a query over graph patterns answers: paths with their scores, and what belongs to them."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, JsonValue

from kgagent.models.graph import GraphModel
from kgagent.models.hybrid import HybridSearchResult
from kgagent.models.pattern import StepDirection
from kgagent.models.pattern_query import RankingStrategy, ScoreComponent

FoundBy = Literal["patterns", "traversal", "hybrid"]
"""What answered: patterns, a walk from targets, or a plain search."""


class MatchedNode(GraphModel):
    """A node of a path.

    Attributes:
        entity_key: its key; the database's own id where it has none.
        labels: all of its labels.
        name: its name; its key where it has none.
        properties: the others, without embeddings and bookkeeping.
    """

    entity_key: str
    labels: tuple[str, ...]
    name: str
    properties: Mapping[str, JsonValue] = Field(default_factory=dict)


class MatchedRelationship(GraphModel):
    """A relationship of a path.

    Attributes:
        neo4j_type: its type in the database.
        from_entity_key: the node that it starts from in the database.
        to_entity_key: the node that it leads to in the database.
        direction: how the path follows it.
        properties: what it says, without embeddings and bookkeeping.
    """

    neo4j_type: str
    from_entity_key: str
    to_entity_key: str
    direction: StepDirection
    properties: Mapping[str, JsonValue] = Field(default_factory=dict)

    @property
    def word(self) -> str:
        """Its type in the database, with the free word ("mentor") where it has one."""
        free = self.properties.get("relationship_type")
        return f"{self.neo4j_type}: {free}" if isinstance(free, str) and free.strip() else self.neo4j_type


class MatchedPath(GraphModel):
    """A path that a pattern found.

    Attributes:
        pattern_id: of the pattern; of several in a row, joined by " > ".
        nodes: from the start to the end.
        relationships: those between them, one less.
        steps: position in `nodes` of the node that each step arrives at.
        properties: figures of the whole path: `hops`, and the parts of the score that were worked out.
        score: what it is ranked by; greater is better.
        explanation: why it scored so.
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
        """The node that it starts from."""
        return self.nodes[0]

    @property
    def end(self) -> MatchedNode:
        """The node that it ends at."""
        return self.nodes[-1]

    def node_at_step(self, step: int) -> MatchedNode:
        """The node that a step arrives at.

        Args:
            step: from 0.

        Raises:
            IndexError: there is no such step.
        """
        return self.nodes[self.steps[step]]

    def to_path_string(self) -> str:
        """The path in one line: `Ann -[has_relationship_with: mentor]-> Bob <-[engages_with]- Cleo`."""
        told = [self.start.name]
        for relationship, node in zip(self.relationships, self.nodes[1:], strict=True):
            against = relationship.direction is StepDirection.INCOMING
            told.append(f"{'<-' if against else '-'}[{relationship.word}]{'-' if against else '->'} {node.name}")
        return " ".join(told)


class Chunk(GraphModel):
    """A node with text that is linked with a path.

    Attributes:
        node: the node.
        text: its text.
        linked_to: keys of the nodes of paths that it is linked with, or is.
        similarity: plain cosine with the query, -1 to 1.
    """

    node: MatchedNode
    text: str
    linked_to: tuple[str, ...]
    similarity: float


class ReasoningContext(GraphModel):
    """What was matched, for a model to reason with.

    Attributes:
        matched_paths: best first.
        nodes: those of all paths, each once, in the order of the paths.
        relationships: those of a walk from targets; the relationships of paths stand in the paths.
        entry_points: the nodes that targets were taken for.
        explored: paths that were looked at, per pattern.
        truncated: whether a limit kept paths from being looked at, so that better ones may exist.
    """

    matched_paths: tuple[MatchedPath, ...] = ()
    nodes: tuple[MatchedNode, ...] = ()
    relationships: tuple[MatchedRelationship, ...] = ()
    entry_points: tuple[MatchedNode, ...] = ()
    explored: Mapping[str, int] = Field(default_factory=dict)
    truncated: bool = False

    @property
    def has_matched_paths(self) -> bool:
        """Whether any path matched."""
        return bool(self.matched_paths)


class PatternResult(GraphModel):
    """The answer to a `GraphQuery`.

    Attributes:
        found_by: what answered.
        context: paths and nodes.
        chunks: nodes with text that are linked with what matched, nearest to the query first.
        hybrid: what a plain search found, where nothing else did.
        ranking: how the paths are ranked.
        weights: how much each part of the score counted, for HYBRID.
        warnings: what was left out, and why.
    """

    found_by: FoundBy
    context: ReasoningContext = ReasoningContext()
    chunks: tuple[Chunk, ...] = ()
    hybrid: HybridSearchResult | None = None
    ranking: RankingStrategy | None = None
    weights: Mapping[ScoreComponent, float] | None = None
    warnings: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[MatchedPath, ...]:
        """The paths, best first."""
        return self.context.matched_paths
