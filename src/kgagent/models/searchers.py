"""Options and hits of the searchers."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SkipValidation

from kgagent.models.fields import EntityKey
from kgagent.models.graph import GraphModel, GraphNode
from kgagent.models.request import RequestModel
from kgagent.models.search import MAX_HOPS, Threshold

DEFAULT_TOP_K = 10
DEFAULT_GRAPH_DEPTH = 1
MAX_HITS = 1_000
MAX_SEEDS = 1_000

HitSource = Literal["vector", "graph", "hybrid"]
"""What found a node: its own text, its place in the graph, or both."""


def _or_default(default: int) -> AfterValidator:
    """Replace a number that is not above 0 by the default."""
    return AfterValidator(lambda value: value if value > 0 else default)


class SearchOptions(RequestModel):
    """Options of a searcher.

    Attributes:
        top_k: maximum number of hits, up to 1,000; 0 or less means 10.
        seed_node_ids: entity keys of the nodes that graph and hybrid searches expand from.
        graph_depth: hops from the seeds, up to 5; 0 or less means 1.
        threshold: minimum plain cosine of a vector match, -1 to 1.
        vector: an embedding to search for instead of the query's, shape (dimensions,); no embedding
            call is made.
    """

    top_k: Annotated[int, Field(le=MAX_HITS), _or_default(DEFAULT_TOP_K)] = DEFAULT_TOP_K
    seed_node_ids: tuple[EntityKey, ...] = Field(default=(), max_length=MAX_SEEDS)
    graph_depth: Annotated[int, Field(le=MAX_HOPS), _or_default(DEFAULT_GRAPH_DEPTH)] = (
        DEFAULT_GRAPH_DEPTH
    )
    threshold: Threshold = -1.0
    vector: SkipValidation[Sequence[float]] | None = None


class SearchHit(GraphModel):
    """A node that a searcher found.

    Attributes:
        score: plain cosine of a vector match, plus 1 / (1 + hops) of a node that expansion reached.
        source: what found it.
        depth: hops from the nearest start; 0 for a seed and for a vector match.
    """

    node: GraphNode
    score: float
    source: HitSource
    depth: int = 0

    @property
    def entity_key(self) -> str:
        """The node's key."""
        return self.node.entity_key
