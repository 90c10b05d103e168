"""What searches are asked and what they answer."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from kgagent.models.graph import GraphModel, GraphNode, GraphRelationship

SearchPlan = Literal["exact", "index", "procedure", "none"]
"""How a vector search was run: each vector compared, in-index filters, the procedure widened, or nothing to search."""

MAX_HOPS = 5
"""Levels that a search may go on from its best hits."""

DEFAULT_HOPS = 1
"""Levels that a search goes on by itself, to what reaches the threshold too."""

Threshold = Annotated[float, Field(ge=-1.0, le=1.0)]


class VectorQuery(BaseModel):
    """A text to search for by meaning.

    Attributes:
        query: what to look for.
        threshold: least plain cosine similarity of a hit, -1 to 1.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    query: str = Field(min_length=1, max_length=8_000)
    threshold: Threshold = 0.3


class RelationshipSearchResult(GraphRelationship):
    """A relationship that matched.

    Attributes:
        similarity: plain cosine of the relationship itself with the query, -1 to 1.
        score: what the search ranks by, in units of cosine: `similarity`; or where the search went on from its hits,
            that of the path that led here, less what each step costs.
        path: the relationships that led to it, as short sentences; empty where the query itself found it.
    """

    similarity: float
    score: float
    path: tuple[str, ...] = ()


class NodeSearchResult(GraphModel):
    """A node that matched by its own text; `similarity` is plain cosine, or the text score (0 to 1) of a text match."""

    node: GraphNode
    similarity: float


class DiscoveredNodes(GraphModel):
    """Relationships that matched, best first, and the nodes at their ends in that order."""

    nodes: tuple[GraphNode, ...] = ()
    relationships: tuple[RelationshipSearchResult, ...] = ()


class GraphExpansion(GraphModel):
    """What surrounds some nodes: relationships among them, and neighbours one hop away with what joins them."""

    neighbours: tuple[GraphNode, ...] = ()
    relationships: tuple[GraphRelationship, ...] = ()


class Signal(GraphModel):
    """One reason why a node was found.

    Attributes:
        source: the search that found it.
        matched: the query or text, or for a relationship its description.
        rank: position in that search's answer, from 1.
        similarity: plain cosine or text score.
    """

    source: Literal["node", "relationship", "text"]
    matched: str
    rank: int
    similarity: float


class ExploredNode(GraphModel):
    """A node that `explore` found; `score` is its reciprocal rank fusion score."""

    node: GraphNode
    score: float
    signals: tuple[Signal, ...] = ()


class ExploreRequest(BaseModel):
    """What `explore` is asked.

    Attributes:
        queries: what to search for by meaning.
        text_matches: names, or parts of names.
        search_relationships: whether relationships are searched too.
        node_types: labels to keep to; None keeps all.
        relationship_types: free types ("mentor") to keep to; None keeps all.
        max_results_per_type: nodes of each label at the most.
        expand_hops: levels to go on from relationships that match to those next to them, whatever those are like; None
            goes on for one level, to relationships that reach the query's threshold too.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    queries: tuple[VectorQuery, ...] = Field(default=(), max_length=20)
    text_matches: tuple[str, ...] = Field(default=(), max_length=20)
    search_relationships: bool = True
    node_types: tuple[str, ...] | None = None
    relationship_types: tuple[str, ...] | None = None
    max_results_per_type: int = Field(10, ge=1, le=100)
    expand_hops: int | None = Field(None, ge=0, le=MAX_HOPS)


class ExploreResult(GraphModel):
    """Nodes best first, the relationships among and around them, and their neighbours."""

    nodes: tuple[ExploredNode, ...] = ()
    relationships: tuple[GraphRelationship, ...] = ()
    neighbours: tuple[GraphNode, ...] = ()
    warnings: tuple[str, ...] = ()
