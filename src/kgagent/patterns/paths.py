"""What a caller is shown of paths."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from kgagent.graph.records import INTERNAL_PROPERTIES, as_text, plain, visible
from kgagent.graph.store import Row
from kgagent.models.matched_path import MatchedNode, MatchedPath, MatchedRelationship
from kgagent.models.pattern import StepDirection
from kgagent.ontology import Ontology
from kgagent.patterns.elements import PathMatch
from kgagent.patterns.plans import QueryPlan
from kgagent.patterns.ranking import PathMetrics, PathRanking

_NODE_FIELDS = frozenset({"entity_key", "name"})


@dataclass(frozen=True)
class ScoredPath:
    """A path that was scored.

    Attributes:
        plan: what matched it.
        path: what it is made of.
        figures: what its score is worked out of.
        score: what it is ranked by.
        group: among the paths of one group with the same `at`, only the best counts.
    """

    plan: QueryPlan
    path: PathMatch
    figures: PathMetrics
    score: float
    group: int

    @property
    def order(self) -> tuple[float, int, tuple[str, ...], tuple[str, ...]]:
        """Sorts the best first; the shorter of two that score the same."""
        return -self.score, self.figures.hops, self.path.nodes, self.path.relationships

    @property
    def identity(self) -> tuple[object, ...]:
        """The same for paths of which only the best counts."""
        if self.path.at is not None:
            return self.group, self.path.at
        return self.plan.pattern_id, self.path


class PathReader:
    """Makes what is shown from rows of the database."""

    def __init__(self, ontology: Ontology) -> None:
        self._hidden = INTERNAL_PROPERTIES | ontology.hidden_properties

    def node(self, row: Mapping[str, Any]) -> MatchedNode:
        """Read the map that `_path_node.cypher` makes."""
        key = str(row["id"] if row["entity_key"] is None else plain(row["entity_key"]))
        return MatchedNode(
            entity_key=key,
            labels=tuple(row["labels"]),
            name=as_text(row["name"]) or key,
            properties=visible(dict(row["properties"]), self._hidden | _NODE_FIELDS),
        )

    def path(
        self,
        ranked: ScoredPath,
        ranking: PathRanking,
        nodes: Mapping[str, MatchedNode],
        relationships: Mapping[str, MatchedRelationship],
        starts: Mapping[str, str],
    ) -> MatchedPath:
        """What is shown of a path, its nodes and relationships being known, and which node each of these starts at."""
        plan, path = ranked.plan, ranked.path
        about = next((segment.description for segment in reversed(plan.segments) if segment.description), "")
        return MatchedPath(
            pattern_id=plan.pattern_id,
            nodes=tuple(nodes[one] for one in path.nodes),
            relationships=tuple(
                relationships[one]
                if before == starts[one]
                else relationships[one].model_copy(update={"direction": StepDirection.INCOMING})
                for one, before in zip(path.relationships, path.nodes, strict=False)
            ),
            steps=tuple(accumulate(path.lengths)),
            properties=ranked.figures.told(),
            score=ranked.score,
            explanation=". ".join(filter(None, (ranking.explain(ranked.figures), about))),
        )

    def relationship(self, row: Row, nodes: Mapping[str, MatchedNode]) -> MatchedRelationship:
        """Read the map that `_path_relationship.cypher` makes."""
        return MatchedRelationship(
            neo4j_type=row["neo4j_type"],
            from_entity_key=nodes[row["start"]].entity_key,
            to_entity_key=nodes[row["end"]].entity_key,
            direction=StepDirection.OUTGOING,
            properties=visible(dict(row["properties"]), self._hidden),
        )
