"""Request and result of a hybrid search."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from kgagent.models.graph import GraphModel, GraphNode, GraphRelationship
from kgagent.models.search import ExpandHops, SearchFilters, SearchPlan, Threshold

FusionStrategy = Literal["calibrated", "rrf", "weighted", "interleave", "graph_first", "text_first"]

FusedRetriever = Literal[
    "node_vector", "node_fulltext", "relationship_vector", "relationship_fulltext"
]
"""The retrievers whose rankings the strategies of the documents fuse."""

Retriever = Literal[FusedRetriever, "statement_vector", "statement_fulltext", "named_node"]
"""The retrievers of a search."""

RetrieverName = Literal[Retriever, "expansion", "via_relationship", "name_match"]
"""How an item was found: by a retriever, by expansion, as an end node of a relationship, or by its
name (`explore`).
"""

RETRIEVER_DESCRIPTIONS: Mapping[RetrieverName, str] = {
    "node_vector": "semantic search of nodes",
    "node_fulltext": "full-text search of nodes",
    "relationship_vector": "semantic search of relationships",
    "relationship_fulltext": "full-text search of relationships",
    "statement_vector": "semantic search of statements",
    "statement_fulltext": "full-text search of statements",
    "named_node": "statements at the nodes that the query names",
    "expansion": "expansion from what matched",
    "via_relationship": "end nodes of relationships",
    "name_match": "search of nodes by name",
}
"""What each way of finding items is, for a person to read."""

Weight = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]

HalfLife = Annotated[float, Field(gt=0, allow_inf_nan=False)]
RetentionClass = Literal["permanent", "decision", "standard", "ephemeral", "session"]

_WEIGHT_ALIASES = {
    "graph": "node_vector",
    "text": "node_fulltext",
    "relationship": "relationship_vector",
}


HOST_ONLY = frozenset(
    {
        "object_limit",
        "text_limit",
        "weights",
        "text_threshold",
        "half_life_days",
        "drop_below",
        "use_access_counts",
        "mmr_lambda",
        "now",
        "timeout",
        "with_ends",
        "min_trust",
    }
)
"""Fields of a search that only a host program sets; the tool refuses them."""


class HybridSearchRequest(SearchFilters):
    """A question to search for, and how to search.

    Attributes:
        object_limit: nodes of each label that the vector search may contribute.
        text_limit: nodes that the full-text search may contribute.
        weights: weight of each retriever for strategy "weighted"; they are divided by their sum.
            Relationship retrievers default to the weight of the node retriever of their kind.
            "graph", "text" and "relationship" are accepted for the first three.
        text_threshold: minimum text score of full-text matches of records, 0 to 1, relative to the
            best match. The strategies that fuse rankings count ranks and not distances, so the weak
            tail of a list is cut here.
        half_life_days: age in days at which an item counts half, by its last update, or a retention
            class ("permanent", "decision", "standard", "ephemeral", "session"); None applies no
            decay.
        drop_below: with decay, items whose decay by age is less are dropped, 0 to 1; the documents'
            value is 0.001.
        use_access_counts: with decay, whether scores are also multiplied by 0.5 + 0.5 · heat, by
            the stored `access_count`.
        mmr_lambda: reranks by maximal marginal relevance, 0 to 1: 1 ranks by relevance alone, 0 by
            difference; None does not rerank.
        now: time from which ages are counted; default: the current time.
        timeout: seconds for retrieval, and for all later steps together; default: the timeout of
            the service.
        with_ends: whether the nodes of a relationship are results beside it.
    """

    not_in_schema: ClassVar[frozenset[str]] = frozenset(
        {"search_relationships", "relationship_limit", "threshold", "strategy", "format"}
    )

    query: str | None = Field(None, description='What to look for: "who taught me to sail?".')
    limit: int | None = Field(None, ge=1, le=100, description="Maximum results. Default: 32.")
    search_relationships: bool = Field(
        True, description="Whether to search relationships as well as nodes."
    )
    relationship_limit: int = Field(
        50,
        ge=1,
        le=100,
        description="Maximum number of relationships that compete for the results.",
    )
    threshold: Threshold = Field(
        0.3, description="Minimum cosine similarity; full-text matches ignore it."
    )
    strategy: FusionStrategy = Field(
        "calibrated",
        description="How to rank. calibrated is a weighted sum of features of each item; rrf "
        "(reciprocal rank fusion) compares ranks only; interleave takes one "
        "item of each ranking in turn; text_first puts full-text matches of nodes first, "
        "graph_first semantic matches.",
    )
    expand_hops: ExpandHops = None
    object_limit: int = Field(20, ge=1, le=200)
    text_limit: int = Field(20, ge=1, le=100)
    weights: Mapping[FusedRetriever, Weight] | None = None
    text_threshold: Weight = Field(0.5, le=1.0)
    half_life_days: HalfLife | RetentionClass | None = None
    drop_below: Weight = Field(0.0, le=1.0)
    use_access_counts: bool = False
    mmr_lambda: float | None = Field(None, ge=0, le=1)
    now: datetime | None = None
    timeout: float | None = Field(None, gt=0)
    with_ends: bool = True

    @field_validator("weights", mode="before")
    @classmethod
    def _resolve_aliases(cls, weights: object) -> object:
        if not isinstance(weights, Mapping):
            return weights
        return {_WEIGHT_ALIASES.get(name, name): weight for name, weight in weights.items()}

    @model_validator(mode="after")
    def _check_weights(self) -> Self:
        if self.weights is not None and not sum(self.weights.values()) > 0.0:
            raise ValueError(f"weights must not all be 0, got {dict(self.weights)}")
        if self.weights is not None and self.strategy != "weighted":
            raise ValueError(f"weights are for strategy 'weighted', got strategy {self.strategy!r}")
        return self


class RankedItem(GraphModel):
    """The rank of an item, and why it was found.

    Attributes:
        rank: position among nodes and relationships together, from 1.
        score: that of its best statement, or at a node of the best relationship there, if that is
            greater; of the fusion strategy or the last reranking step, if the search asked for one.
        found_by: the retrievers that found it.
        similarity: plain cosine with the query, -1 to 1; None without a vector search match.
        text_score: score of its full-text match relative to the best match, above 0 to 1; None
            without one.
        contributions: what each feature adds to the score, see `kgagent.search.score`; they add up
            to it. Empty if another strategy ranks.
    """

    rank: int
    score: float
    found_by: tuple[RetrieverName, ...]
    similarity: float | None = None
    text_score: float | None = None
    contributions: Mapping[str, float] = Field(default_factory=dict)


class HybridObject(RankedItem, GraphNode):
    """A node that a hybrid search found."""

    type: Literal["object"] = "object"


class HybridRelationship(RankedItem, GraphRelationship):
    """A relationship that a hybrid search found.

    Attributes:
        triplet_text: the relationship as a short sentence, such as "Elon Musk founded Tesla".
        path: the relationships that led to it, as short sentences; empty if the query itself found
            it.
    """

    type: Literal["relationship"] = "relationship"
    triplet_text: str
    path: tuple[str, ...] = ()


class HybridSearchResult(GraphModel):
    """Nodes and relationships, best first.

    Attributes:
        objects: nodes.
        relationships: relationships; None if they were not searched.
        warnings: what is missing, and why.
        plan: how each vector search was run.
        is_relevant: whether any item stands out among the user's records; None if that was not
            assessed.
        relevance: how far the best item stands out, relevant from 0.5; None if that was not
            assessed.
        named: names of nodes that the query names, if none of the best items is about them. Not
            part of a payload.
        labels: labels of the nodes of the items, by entity_key. Not part of a payload.
        asked: the words of the query, without stop words. Not part of a payload.
    """

    objects: tuple[HybridObject, ...] = ()
    relationships: tuple[HybridRelationship, ...] | None = None
    warnings: tuple[str, ...] = ()
    plan: Mapping[RetrieverName, SearchPlan] = Field(default_factory=dict)
    is_relevant: bool | None = None
    relevance: float | None = None
    named: tuple[str, ...] = Field((), exclude=True)
    labels: Mapping[str, str] = Field(default_factory=dict, exclude=True)
    asked: frozenset[str] = Field(frozenset(), exclude=True)

    @property
    def items(self) -> list[HybridObject | HybridRelationship]:
        """Nodes and relationships together, best first."""
        items: list[HybridObject | HybridRelationship] = [
            *self.objects,
            *(self.relationships or ()),
        ]
        return sorted(items, key=lambda item: item.rank)

    def to_dict(self) -> dict[str, Any]:
        """As JSON types; `objects` is always present, `relationships` if they were searched."""
        payload: dict[str, Any] = {"objects": [item.to_dict() for item in self.objects]}
        if self.relationships is not None:
            payload["relationships"] = [item.to_dict() for item in self.relationships]
        if self.warnings:
            payload["warnings"] = list(self.warnings)
        if self.is_relevant is not None:
            payload |= {"is_relevant": self.is_relevant, "relevance": self.relevance}
        return payload
