"""What a hybrid search is asked and what it answers."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kgagent.models.graph import GraphModel, GraphNode, GraphRelationship
from kgagent.models.llm_context import estimated_tokens, fit, node_lines, relationship_lines
from kgagent.models.search import MAX_HOPS, SearchPlan, Threshold

FusionStrategy = Literal["rrf", "weighted", "interleave", "graph_first", "text_first"]

Ranking = Literal["graph", "text", "relationship", "relationship_text"]
"""Rankings that are fused: nodes by meaning and by their words, relationships by meaning and by theirs."""

RetrieverName = Literal[Ranking, "through"]
"""How an item was found: in one of the rankings, or as a node at the end of a relationship that was."""

Share = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class HybridOptions(BaseModel):
    """How a hybrid search is run.

    Attributes:
        limit: items in all, nodes and relationships together; None takes the setting, 32 unless it was changed.
        object_limit: nodes that are found by meaning, of each label.
        text_limit: nodes that are found by their words.
        relationship_limit: relationships that are found by meaning, and as many by their words.
        include_relationships: whether relationships are searched; the answer has none of them otherwise.
        strategy: how the rankings become one. `rrf` sums 1 / (60 + rank); `weighted` sums weighted scores; `interleave`
            takes one of each in turn; `graph_first` and `text_first` begin with nodes by meaning or by words.
        weights: for `weighted`, how much each ranking counts; they are divided by their sum. Those of relationships
            are that of `graph` unless named, and of their words that of `text`.
        labels: labels of nodes to keep to; None keeps all.
        relationship_types: free types ("mentor") to keep to; None keeps all.
        threshold: least plain cosine of what is found by meaning, -1 to 1.
        text_threshold: least text score of what is found by words, 0 to 1. With 0.5, what matches less than half as
            well as the best is left out, since a fused ranking counts places and not how far apart they are.
        expand_hops: levels to go on from relationships that match to those next to them, 0 to 5, whatever those are
            like; None goes on for one level, to relationships that reach the threshold too.
        half_life_days: days after which an item counts half, by when it was last written; None lets nothing age.
        mmr_lambda: chooses items that differ from one another by maximal marginal relevance, 0 to 1: 1 looks at
            nearness to the query alone, 0 at difference; None leaves the order.
        now: time from which ages are counted; the present where None.
        timeout: seconds for each part of the search; None takes the setting.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    limit: int | None = Field(None, ge=1, le=100)
    object_limit: int = Field(20, ge=1, le=200)
    text_limit: int = Field(20, ge=1, le=100)
    relationship_limit: int = Field(50, ge=1, le=100)
    include_relationships: bool = True
    strategy: FusionStrategy = "rrf"
    weights: Mapping[Ranking, Share] | None = None
    labels: tuple[str, ...] | None = None
    relationship_types: tuple[str, ...] | None = None
    threshold: Threshold = 0.3
    text_threshold: Share = Field(0.5, le=1.0)
    expand_hops: int | None = Field(None, ge=0, le=MAX_HOPS)
    half_life_days: float | None = Field(None, gt=0, allow_inf_nan=False)
    mmr_lambda: float | None = Field(None, ge=0, le=1)
    now: datetime | None = None
    timeout: float | None = Field(None, gt=0)

    @model_validator(mode="after")
    def _weights_serve(self) -> Self:
        if self.weights is not None and not sum(self.weights.values()) > 0.0:
            raise ValueError(f"weights must not all be 0, got {dict(self.weights)}")
        if self.weights is not None and self.strategy != "weighted":
            raise ValueError(f"weights are for strategy 'weighted', got strategy {self.strategy!r}")
        return self


class Standing(GraphModel):
    """Where an item stands in the answer, and why.

    Attributes:
        rank: position among nodes and relationships together, from 1.
        score: as the strategy counts it.
        found_by: rankings that it stands in.
        similarity: plain cosine with the query, -1 to 1; None where it was not found by meaning.
        text_score: how well its words match beside the best of this search, above 0 to 1; None where it was not
            found by them.
    """

    rank: int
    score: float
    found_by: tuple[RetrieverName, ...]
    similarity: float | None = None
    text_score: float | None = None


class HybridObject(Standing, GraphNode):
    """A node that a hybrid search found."""

    type: Literal["object"] = "object"


class HybridRelationship(Standing, GraphRelationship):
    """A relationship that a hybrid search found.

    Attributes:
        triplet_text: the relationship as a short sentence, such as "Elon Musk founded Tesla".
        path: the relationships that led to it, as short sentences; empty where the query itself found it.
    """

    type: Literal["relationship"] = "relationship"
    triplet_text: str
    path: tuple[str, ...] = ()


class HybridResult(GraphModel):
    """Nodes and relationships, best first.

    Attributes:
        objects: nodes.
        relationships: relationships; None where they were not asked for.
        warnings: what is missing from the answer, and why.
        plan: how each search by meaning was run.
    """

    objects: tuple[HybridObject, ...] = ()
    relationships: tuple[HybridRelationship, ...] | None = None
    warnings: tuple[str, ...] = ()
    plan: Mapping[RetrieverName, SearchPlan] = Field(default_factory=dict)

    @property
    def items(self) -> list[HybridObject | HybridRelationship]:
        """Nodes and relationships together, best first."""
        together: list[HybridObject | HybridRelationship] = [*self.objects, *(self.relationships or ())]
        return sorted(together, key=lambda item: item.rank)

    def to_dict(self) -> dict[str, Any]:
        """As plain data; `objects` is always there, `relationships` where they were asked for."""
        payload: dict[str, Any] = {"objects": [item.to_dict() for item in self.objects]}
        if self.relationships is not None:
            payload["relationships"] = [item.to_dict() for item in self.relationships]
        if self.warnings:
            payload["warnings"] = list(self.warnings)
        return payload

    def to_llm_context(
        self,
        token_budget: int = 2_000,
        *,
        count_tokens: Callable[[str], int] = estimated_tokens,
        now: datetime | None = None,
    ) -> str:
        """Write what was found for a model to read, most relevant first.

        Each node begins with "Object: <name>", each relationship with "Relationship: <triplet>"; what more is known
        follows indented. What does not fit is shortened to its first line, and else left out.

        Args:
            token_budget: tokens at the most.
            count_tokens: counts the tokens of a text; an estimate on the high side where none is given.
            now: notes that have expired by then are left out; the present where None.
        """
        moment = now or datetime.now(UTC)
        return fit(
            (
                node_lines(item, moment)
                if isinstance(item, HybridObject)
                else relationship_lines(item, moment, item.path)
                for item in self.items
            ),
            token_budget,
            count_tokens,
        )
