"""A pattern query: patterns, their combination, the nodes to start from, and the ranking of
paths.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from kgagent.models.constraint import (
    LenientEnum,
    Name,
    PatternModel,
    Position,
    RelationTypes,
    accepts,
)
from kgagent.models.fields import AsOf
from kgagent.models.pattern import GraphPattern
from kgagent.models.search import MAX_HOPS

MAX_PATTERNS = 20
"""Maximum number of patterns of a query or a combinator."""

MAX_PATHS = 10_000

ScoreComponent = Literal["length", "weight", "centrality", "semantic"]
"""A component of the HYBRID ranking."""

HYBRID_WEIGHTS: Mapping[ScoreComponent, float] = {
    "length": 0.2,
    "weight": 0.1,
    "centrality": 0.1,
    "semantic": 0.6,
}


class RankingStrategy(LenientEnum):
    """How paths are ranked; `kgagent.patterns.ranking` has the formulas."""

    PATH_LENGTH = "PATH_LENGTH"
    EDGE_WEIGHT = "EDGE_WEIGHT"
    NODE_CENTRALITY = "NODE_CENTRALITY"
    SEMANTIC_SCORE = "SEMANTIC_SCORE"
    HYBRID = "HYBRID"

    @classmethod
    def synonyms(cls) -> Mapping[str, str]:
        """See `LenientEnum`."""
        return {
            "PATH_LENGTH": "LENGTH SHORTEST",
            "EDGE_WEIGHT": "WEIGHT",
            "NODE_CENTRALITY": "CENTRALITY",
            "SEMANTIC_SCORE": "SEMANTIC SIMILARITY",
        }


class CombinatorType(LenientEnum):
    """How the paths of several patterns are combined."""

    INTERSECTION = "INTERSECTION"
    UNION = "UNION"
    SEQUENTIAL = "SEQUENTIAL"

    @classmethod
    def synonyms(cls) -> Mapping[str, str]:
        """See `LenientEnum`."""
        return {
            "INTERSECTION": "AND ALL INTERSECT",
            "UNION": "OR ANY",
            "SEQUENTIAL": "THEN SEQUENCE",
        }


class QueryCombinator(PatternModel):
    """Combines patterns."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"description", "patterns"})

    type: CombinatorType = Field(
        validation_alias=accepts("type", "operator"),
        description="INTERSECTION: paths of all patterns with the same node at join_on. UNION: the "
        "best path for each "
        "node that any pattern has at join_on. SEQUENTIAL: each pattern starts where the previous "
        "one ended.",
    )
    patterns: tuple[GraphPattern, ...] = Field(
        min_length=1, max_length=MAX_PATTERNS, description="Patterns."
    )
    join_on: Position | None = Field(
        None,
        description=(
            "Default: the start if all patterns have the same start label, otherwise the end."
        ),
    )
    description: str = Field("", max_length=2_000, description="Purpose of the combination.")

    @model_validator(mode="after")
    def _join_is_possible(self) -> Self:
        if self.type is CombinatorType.SEQUENTIAL and self.join_on is not None:
            raise ValueError(
                "SEQUENTIAL joins the end of a pattern to the start of the next: omit join_on"
            )
        if isinstance(self.join_on, int):
            for pattern in self.patterns:
                if self.join_on >= len(pattern.steps):
                    raise ValueError(
                        f"join_on {self.join_on} is not a step of pattern {pattern.pattern_id!r}"
                    )
        return self


class ResolutionTarget(PatternModel):
    """A node to start from; give its entity_key, its name, or a description."""

    description: str = Field(
        "",
        max_length=8_000,
        validation_alias=accepts("description", "name"),
        description="Its name, or a description.",
    )
    label: Name | None = Field(
        None, validation_alias=accepts("label", "type_hint"), description="Its label. Default: any."
    )
    entity_key: Name | None = Field(None, description="Its key, instead.")

    @model_validator(mode="after")
    def _identifies_a_node(self) -> Self:
        if not self.description.strip() and self.entity_key is None:
            raise ValueError(
                "a target needs a description (its name, or words that describe it) or an "
                "entity_key"
            )
        return self


class TraversalHint(PatternModel):
    """Expansion from the targets, for a query without patterns."""

    relation_types: RelationTypes = Field(
        default=(),
        validation_alias=accepts("relation_types", "neo4j_types"),
        description="Neo4j types to follow, in both directions; by default all.",
    )
    max_depth: int = Field(
        2,
        ge=1,
        le=MAX_HOPS,
        validation_alias=accepts("max_depth", "max_hops"),
        description="Maximum number of relationships from a target.",
    )


class GraphQuery(PatternModel):
    """A structured question to a graph."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"ranking", "max_paths"})

    query: str | None = Field(
        None,
        max_length=8_000,
        validation_alias=accepts("query", "text_query", "question"),
        description=("The question in plain words: ranks paths; searched for if no path matches."),
    )
    targets: tuple[ResolutionTarget, ...] = Field(
        default=(),
        max_length=20,
        description="Nodes where paths start, or end if only the end of a pattern has their label.",
    )
    traversal: TraversalHint | None = Field(
        None, description="Expansion from the targets, for a query without patterns."
    )
    patterns: tuple[GraphPattern, ...] = Field(
        default=(),
        max_length=MAX_PATTERNS,
        validation_alias=accepts("patterns", "pattern"),
        description="Patterns, each matched independently.",
    )
    combinator: QueryCombinator | None = Field(
        None, description="A combination of patterns; replaces `patterns`."
    )
    ranking: RankingStrategy | None = Field(
        None,
        validation_alias=accepts("ranking", "ranking_strategy"),
        description="How paths are ranked.",
    )
    weights: Mapping[ScoreComponent, Annotated[float, Field(ge=0, allow_inf_nan=False)]] | None = (
        Field(
            None,
            description=(
                "For HYBRID, the weight of each component; weights are divided by their sum."
            ),
        )
    )
    weight_property: Name = Field(
        "weight",
        description=(
            "For EDGE_WEIGHT and HYBRID, the numeric relationship property that is summed; 1 if "
            "missing."
        ),
    )
    max_paths: int | None = Field(None, ge=1, le=MAX_PATHS, description="Maximum number of paths.")
    as_of: AsOf = None
    one_path_per: Position | None = Field(
        None, description="Returns only the best path for each node at this position."
    )
    top_k: int = Field(
        10, ge=0, le=100, description="Maximum number of texts near the paths; 0 for none."
    )
    strict: bool | None = Field(
        None,
        description=(
            "Whether it is an error if no path matches, instead of a hybrid search for `query`."
        ),
    )
    use_all_relation_hints: bool | None = Field(
        None, description="Whether `traversal` follows all of its types, or only the first."
    )

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if not (
            self.targets or self.patterns or self.combinator or (self.query and self.query.strip())
        ):
            raise ValueError(
                "the query is empty: give patterns, a combinator, targets, or a query in plain "
                "words"
            )
        if self.weights is not None and not sum(self.weights.values()) > 0.0:
            raise ValueError(f"weights must not all be 0, got {dict(self.weights)}")
        steps = self._longest([len(pattern.steps) for pattern in self.all_patterns])
        if isinstance(self.one_path_per, int) and self.all_patterns and self.one_path_per >= steps:
            raise ValueError(
                f"one_path_per {self.one_path_per} is not a step: the longest path has {steps}"
            )
        return self

    @property
    def has_patterns(self) -> bool:
        """Whether the query has independent patterns."""
        return bool(self.patterns)

    @property
    def has_combinator(self) -> bool:
        """Whether the query has a combinator."""
        return self.combinator is not None

    @property
    def all_patterns(self) -> tuple[GraphPattern, ...]:
        """Every pattern that is matched: those of the combinator if there is one."""
        return self.patterns if self.combinator is None else self.combinator.patterns

    @property
    def max_depth(self) -> int:
        """Maximum number of relationships of a path; 0 for a query in plain words alone."""
        if self.all_patterns:
            return self._longest([pattern.max_hops for pattern in self.all_patterns])
        return self.traversal.max_depth if self.traversal is not None and self.targets else 0

    def _longest(self, lengths: Sequence[int]) -> int:
        """The length of the longest path, from those of the patterns."""
        is_sequence = (
            self.combinator is not None and self.combinator.type is CombinatorType.SEQUENTIAL
        )
        return sum(lengths) if is_sequence else max(lengths, default=0)
