"""What a query over graph patterns asks: patterns, how they combine, where they begin, and how paths are ranked."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from kgagent.models.constraint import MAX_STEPS, Name, PatternModel, Position, RelationTypes, upper
from kgagent.models.pattern import GraphPattern
from kgagent.models.search import MAX_HOPS

MAX_PATTERNS = 20
"""Patterns of a query at the most, those inside combinators counted too."""

DEEPEST_COMBINATOR = 4
"""Levels of combinators inside one another."""

MAX_PATHS = 10_000

ScoreComponent = Literal["length", "weight", "centrality", "semantic"]
"""What HYBRID ranking weighs."""

HYBRID_WEIGHTS: Mapping[ScoreComponent, float] = {"length": 0.2, "weight": 0.1, "centrality": 0.1, "semantic": 0.6}


class RankingStrategy(StrEnum):
    """How paths are ranked; `kgagent.patterns.ranking` gives the formulas."""

    PATH_LENGTH = "PATH_LENGTH"
    EDGE_WEIGHT = "EDGE_WEIGHT"
    NODE_CENTRALITY = "NODE_CENTRALITY"
    SEMANTIC_SCORE = "SEMANTIC_SCORE"
    HYBRID = "HYBRID"


class CombinatorType(StrEnum):
    """How the paths of several patterns become one answer."""

    INTERSECTION = "INTERSECTION"
    UNION = "UNION"
    SEQUENTIAL = "SEQUENTIAL"


class QueryCombinator(PatternModel):
    """Several patterns as one; they may be combinators themselves.

    Attributes:
        type: INTERSECTION keeps the paths whose joined node is one that every pattern finds there. UNION keeps, for
            each joined node that any pattern finds, the path that scores best. SEQUENTIAL starts each pattern from the
            nodes that the one before ends at, and answers the paths from the first start to the last end.
        patterns: what is combined.
        join_on: the node that INTERSECTION and UNION join on. None is the start where all patterns start with one
            label, else the end.
        description: what it is for.
    """

    type: Annotated[CombinatorType, BeforeValidator(upper)]
    patterns: tuple["GraphPattern | QueryCombinator", ...] = Field(min_length=1, max_length=MAX_PATTERNS)
    join_on: Position | None = None
    description: str = Field("", max_length=2_000)

    @model_validator(mode="after")
    def _join_is_a_place(self) -> Self:
        if self.type is CombinatorType.SEQUENTIAL and self.join_on is not None:
            raise ValueError("SEQUENTIAL joins the end of a pattern with the start of the next: leave out join_on")
        if isinstance(self.join_on, int):
            for pattern in patterns_of(self):
                if self.join_on >= len(pattern.steps):
                    raise ValueError(f"join_on {self.join_on} is no step of pattern {pattern.pattern_id!r}")
        if _depth(self) > DEEPEST_COMBINATOR:
            raise ValueError(f"combinators may stand {DEEPEST_COMBINATOR} levels inside one another, not more")
        return self


def patterns_of(part: "GraphPattern | QueryCombinator") -> Iterator[GraphPattern]:
    """All patterns in it, from left to right."""
    if isinstance(part, GraphPattern):
        yield part
    else:
        for inner in part.patterns:
            yield from patterns_of(inner)


def _depth(part: GraphPattern | QueryCombinator) -> int:
    return 0 if isinstance(part, GraphPattern) else 1 + max(_depth(inner) for inner in part.patterns)


def _steps(part: GraphPattern | QueryCombinator) -> int:
    """Steps of its longest path."""
    if isinstance(part, GraphPattern):
        return len(part.steps)
    counts = [_steps(inner) for inner in part.patterns]
    return sum(counts) if part.type is CombinatorType.SEQUENTIAL else max(counts)


class ResolutionTarget(PatternModel):
    """A node that a query is about, told so that it can be found.

    Attributes:
        description: its name, or words that describe it.
        label: its label; None is any.
        entity_key: its key, where it is known; nothing is searched then.
    """

    description: str = Field("", max_length=8_000)
    label: Name | None = None
    entity_key: Name | None = None

    @model_validator(mode="before")
    @classmethod
    def _hint_is_a_label(cls, given: Any) -> Any:  # noqa: ANN401
        """`type_hint` is another name for `label`."""
        if isinstance(given, Mapping):
            for old in {"type_hint", "typeHint"} & given.keys():
                given = {**{key: value for key, value in given.items() if key != old}, "label": given[old]}
        return given

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.description.strip() and self.entity_key is None:
            raise ValueError("a target needs a description (its name, or words that describe it) or an entity_key")
        return self


class TraversalHint(PatternModel):
    """How to walk from the targets where there are no patterns.

    Attributes:
        relation_types: Neo4j types to follow, either way; none follows all.
        max_depth: relationships from a target at the most, 1 to 5.
    """

    relation_types: RelationTypes = ()
    max_depth: int = Field(2, ge=1, le=MAX_HOPS)


class GraphQuery(PatternModel):
    """A question to a graph.

    Attributes:
        query: the question in words; ranks paths by meaning, finds chunks, and is searched for where nothing matches.
        targets: nodes that it is about. Paths start from them where their label is that of a pattern's start, or end
            at them where it is that of its end.
        traversal: how to walk from the targets where there are no patterns.
        patterns: patterns to look for, each by itself.
        combinator: patterns that are one answer together.
        ranking: how paths are ranked; None takes the setting.
        weights: for HYBRID, how much each part counts; they are divided by their sum.
        weight_property: for EDGE_WEIGHT and HYBRID, the number on a relationship that is its weight; one without it
            counts 1.
        max_paths: paths at the most; None takes the setting.
        one_path_per: only the best path for each of the nodes there.
        top_k: chunks at the most; 0 for none.
        strict: whether finding no path is an error, instead of a plain search for `query`; None takes the setting.
        use_all_relation_hints: whether `traversal` follows all of its types, instead of the first only; None takes the
            setting.
    """

    query: str | None = Field(None, max_length=8_000)
    targets: tuple[ResolutionTarget, ...] = Field(default=(), max_length=20)
    traversal: TraversalHint | None = None
    patterns: tuple[GraphPattern, ...] = Field(default=(), max_length=MAX_PATTERNS)
    combinator: QueryCombinator | None = None
    ranking: Annotated[RankingStrategy, BeforeValidator(upper)] | None = None
    weights: Mapping[ScoreComponent, Annotated[float, Field(ge=0, allow_inf_nan=False)]] | None = None
    weight_property: Name = "weight"
    max_paths: int | None = Field(None, ge=1, le=MAX_PATHS)
    one_path_per: Position | None = None
    top_k: int = Field(10, ge=0, le=100)
    strict: bool | None = None
    use_all_relation_hints: bool | None = None

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not (self.targets or self.patterns or self.combinator or (self.query and self.query.strip())):
            raise ValueError("ask something: give patterns, a combinator, targets, or a query in words")
        if self.weights is not None and not sum(self.weights.values()) > 0.0:
            raise ValueError(f"weights must not all be 0, got {dict(self.weights)}")
        if len(self.all_patterns) > MAX_PATTERNS:
            raise ValueError(f"a query has at most {MAX_PATTERNS} patterns, got {len(self.all_patterns)}")
        if isinstance(self.one_path_per, int) and self.one_path_per >= self._most_steps:
            raise ValueError(f"one_path_per {self.one_path_per} is no step: the longest path has {self._most_steps}")
        return self

    @property
    def _most_steps(self) -> int:
        """Steps of the longest path; those of a SEQUENTIAL are counted on."""
        parts = (*self.patterns, *((self.combinator,) if self.combinator else ()))
        return max(map(_steps, parts), default=MAX_STEPS)

    @property
    def has_patterns(self) -> bool:
        """Whether patterns are given by themselves."""
        return bool(self.patterns)

    @property
    def has_combinator(self) -> bool:
        """Whether patterns are combined."""
        return self.combinator is not None

    @property
    def all_patterns(self) -> tuple[GraphPattern, ...]:
        """Every pattern of the query."""
        combined = () if self.combinator is None else tuple(patterns_of(self.combinator))
        return (*self.patterns, *combined)
