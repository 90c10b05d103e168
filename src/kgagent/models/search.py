"""Requests and results of the searches."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AliasChoices, Field, model_validator

from kgagent.models.fields import (
    AsOf,
    FilledText,
    FreeTypes,
    KnownAsOf,
    Labels,
    Level,
    QueryText,
    SearchedTypes,
)
from kgagent.models.graph import GraphModel, GraphNode, GraphRelationship
from kgagent.models.request import RequestModel, parsed_json
from kgagent.models.when import WhenPeriod
from kgagent.trust import Trust

SearchPlan = Literal["exact", "index", "procedure", "none"]
"""How a vector search was run: comparing each vector, in a filtered index, by the query procedures,
or not at all.
"""

MAX_HOPS = 5
"""Maximum number of hops to expand from the best matches."""

Threshold = Annotated[float, Field(ge=-1.0, le=1.0)]

ExpandHops = Annotated[
    int | None,
    Field(
        ge=0,
        le=MAX_HOPS,
        description="Hops to expand. Default: 2.",
    ),
]


class VectorQuery(RequestModel):
    """A text to search for semantically.

    Attributes:
        query: what to look for.
        threshold: minimum plain cosine of a match, -1 to 1.
    """

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"threshold"})

    query: QueryText = Field(description='Such as "friends from college".')
    threshold: Threshold = Field(0.3, description="Minimum cosine similarity.")

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, data: object) -> object:
        """Accept a bare text as the query."""
        return {"query": data} if isinstance(parsed_json(data), str) else data


class RelationshipSearchResult(GraphRelationship):
    """A relationship that matched.

    Attributes:
        similarity: plain cosine of the relationship itself with the query, -1 to 1.
        score: what the search ranks by: `similarity`, or in `explore` the score of its best
            statement.
        path: the relationships that led to it, as short sentences; empty if the query itself found
            it.
    """

    similarity: float
    score: float
    path: tuple[str, ...] = ()


class NodeSearchResult(GraphModel):
    """A node that matched; `similarity` is plain cosine, or the score (0 to 1) of a name match."""

    node: GraphNode
    similarity: float


class DiscoveredNodes(GraphModel):
    """Relationships that matched, best first, and their end nodes in that order; `warnings` say
    what is missing, and why.
    """

    nodes: tuple[GraphNode, ...] = ()
    relationships: tuple[RelationshipSearchResult, ...] = ()
    warnings: tuple[str, ...] = ()


class GraphExpansion(GraphModel):
    """Surroundings of nodes: relationships among them, and neighbors one hop away with the
    relationships to them.
    """

    neighbors: tuple[GraphNode, ...] = ()
    relationships: tuple[GraphRelationship, ...] = ()


ExploreSignal = Literal["node_vector", "name_match", "via_relationship"]
"""How `explore` found a node: by its own embedding, by its name, or as an end node of a
relationship that matched.
"""


class Signal(GraphModel):
    """One reason why a node was found.

    Attributes:
        source: the search that found it.
        matched: the query or text, or for a relationship its description.
        rank: rank in the results of that search, from 1.
        similarity: plain cosine or text score.
    """

    source: ExploreSignal
    matched: str
    rank: int
    similarity: float


class ExploredNode(GraphModel):
    """A node that `explore` found; `score` is what it ranks by, 0 to 1."""

    node: GraphNode
    score: float
    signals: tuple[Signal, ...] = ()

    @property
    def is_named_exactly(self) -> bool:
        """Whether its name or an alias is one of the names that were searched."""
        return any(
            signal.source == "name_match" and signal.similarity == 1.0 for signal in self.signals
        )


class SearchFilters(RequestModel):
    """What a search keeps, with dates in EDTF.

    A relationship without a level matches no range of it. What has no `when` is valid at any time,
    and never `between`; a node is `between` by its notes.
    """

    last_in_schema: ClassVar[frozenset[str]] = frozenset(
        {"labels", "relationship_types", "as_of", "between"}
    )
    not_in_schema: ClassVar[frozenset[str]] = frozenset(
        {
            "neo4j_types",
            "known_as_of",
            "min_attitude",
            "max_attitude",
            "min_proximity",
            "max_proximity",
            "sources",
            "min_trust",
        }
    )

    labels: Labels = None
    relationship_types: FreeTypes = None
    neo4j_types: SearchedTypes = None
    as_of: AsOf = None
    known_as_of: KnownAsOf = None
    between: WhenPeriod | None = Field(None, description="Dated within: 2019/2021.")
    min_attitude: Level = Field(None, description="Only relationships with at least this attitude.")
    max_attitude: Level = Field(None, description="Only relationships with at most this attitude.")
    min_proximity: Level = Field(
        None, description="Only relationships with at least this proximity."
    )
    max_proximity: Level = Field(
        None, description="Only relationships with at most this proximity."
    )

    sources: bool | None = Field(
        None, description="Whether to search the texts of sources too. Default: true."
    )
    min_trust: Trust | None = Field(
        None, description="Only what is trusted so far at least: own, known or unknown."
    )

    @model_validator(mode="after")
    def _check_ranges(self) -> Self:
        for name in ("attitude", "proximity"):
            least, most = getattr(self, f"min_{name}"), getattr(self, f"max_{name}")
            if least is not None and most is not None and least > most:
                raise ValueError(f"min_{name} must be at most max_{name}, got {least} and {most}")
        return self


class ExploreRequest(SearchFilters):
    """Queries and names to search for, and how to search. At least one query or name is
    required.
    """

    not_in_schema: ClassVar[frozenset[str]] = frozenset(
        {
            "search_relationships",
            "as_of",
            "between",
            "sources",
            "limit_per_label",
            "return_explanations",
            "format",
        }
    )

    queries: tuple[VectorQuery, ...] = Field(
        default=(),
        max_length=20,
        validation_alias=AliasChoices("queries", "query"),
        description="Texts for semantic search.",
    )
    text_matches: tuple[FilledText, ...] = Field(
        default=(), max_length=20, description="Names of nodes, or parts of names."
    )
    search_relationships: bool = Field(True, description="Search relationships too.")
    limit_per_label: int = Field(
        10,
        ge=1,
        le=100,
        validation_alias=AliasChoices("limit_per_label", "max_results_per_type"),
        description="Maximum number of nodes of each label.",
    )
    expand_hops: ExpandHops = None

    @model_validator(mode="before")
    @classmethod
    def _drop_empty_queries(cls, given: object) -> object:
        """Models may give `query`, and empty `queries` beside it."""
        if isinstance(given, Mapping) and "query" in given and not given.get("queries"):
            return {name: value for name, value in given.items() if name != "queries"}
        return given


class ExploreResult(GraphModel):
    """Nodes best first, the relationships among and around them, and their neighbors.

    Attributes:
        nodes: nodes that were found, best first.
        relationships: relationships that matched, best first, then those among and around the
            nodes.
        neighbors: nodes one hop from those that were found.
        warnings: what is missing, and why.
        is_relevant: whether any item stands out among the user's records; None if that was not
            assessed.
        relevance: how far the best item stands out, from 0.5 relevant; None if that was not
            assessed.
    """

    nodes: tuple[ExploredNode, ...] = ()
    relationships: tuple[GraphRelationship, ...] = ()
    neighbors: tuple[GraphNode, ...] = ()
    warnings: tuple[str, ...] = ()
    is_relevant: bool | None = None
    relevance: float | None = None
