"""What the page is given: a graph, why each part of it is there, and the ontology's words."""

from typing import Self

from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.graph import GraphModel
from kgagent.models.triplet import humanize_relation_type
from kgagent.ontology import Ontology


class Reason(GraphModel):
    """One search that found an item.

    Attributes:
        found_among: what that search ranks, for a person to read: "nodes by meaning".
        matched: the query, name or relationship that spoke for it.
        rank: its place in that search's answer, from 1; None where it is not kept.
        similarity: plain cosine with the query, -1 to 1.
        text_score: how well its words match beside the best of the search, above 0 to 1.
    """

    found_among: str
    matched: str = ""
    rank: int | None = None
    similarity: float | None = None
    text_score: float | None = None


class Standing(GraphModel):
    """Where an item that matched stands, and why.

    Attributes:
        rank: its place, from 1.
        score: what it is ranked by.
        score_meaning: how the score is counted, for a person to read.
        reasons: the searches that found it.
        path: the relationships that led to it, as short sentences; empty where the query itself found it.
    """

    rank: int
    score: float
    score_meaning: str
    reasons: tuple[Reason, ...] = ()
    path: tuple[str, ...] = ()


class SeenNode(GraphModel):
    """A node on the page; without a standing it only surrounds what matched."""

    node: GraphNode
    standing: Standing | None = None


class SeenRelationship(GraphModel):
    """A relationship on the page; without a standing it only joins or surrounds what matched."""

    relationship: GraphRelationship
    standing: Standing | None = None


class ViewGraph(GraphModel):
    """What the page shows.

    Attributes:
        asked: what was searched for.
        ranked_together: whether nodes and relationships stand in one ranking.
        nodes: every node at an end of one of the relationships is among them.
        relationships: each once.
        warnings: what is missing, and why.
    """

    asked: str
    ranked_together: bool
    nodes: tuple[SeenNode, ...] = ()
    relationships: tuple[SeenRelationship, ...] = ()
    warnings: tuple[str, ...] = ()


class KindWords(GraphModel):
    """What an ontology says of a Neo4j type: how to call it, and its words from 1 to 5."""

    name: str
    attitude: tuple[str, ...]
    proximity: tuple[str, ...]


class Vocabulary(GraphModel):
    """The ontology's labels and kinds, in its order, which is that of their colours on the page."""

    labels: tuple[str, ...]
    kinds: dict[str, KindWords]

    @classmethod
    def of(cls, ontology: Ontology) -> Self:
        """Take what the page needs of an ontology."""
        return cls(
            labels=tuple(ontology.labels),
            kinds={
                neo4j_type: KindWords(
                    name=humanize_relation_type(neo4j_type), attitude=kind.attitude, proximity=kind.proximity
                )
                for neo4j_type, kind in ontology.relationships.items()
            },
        )
