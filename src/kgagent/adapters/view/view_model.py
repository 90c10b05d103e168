"""The data of the page: a graph, why each item is in it, and the words of the ontology."""

from collections.abc import Mapping
from typing import Self

from pydantic import Field

from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.graph import GraphModel
from kgagent.models.history import HistoryEntry
from kgagent.models.plain import humanize_relation_type
from kgagent.ontology import Ontology


class MatchReason(GraphModel):
    """A retriever that found an item.

    Attributes:
        retriever: description of the retriever for a person, such as "semantic search of nodes".
        similarity: plain cosine with the query, -1 to 1.
        text_score: text score relative to the best match of the search, above 0 to 1.
    """

    retriever: str
    similarity: float | None = None
    text_score: float | None = None


class Match(GraphModel):
    """Rank of a matching item, and why it matched.

    Attributes:
        rank: rank in the result, from 1.
        score: the value that the ranking sorts by.
        reasons: the retrievers that found the item; none in an overview.
        contributions: what each feature adds to the score; empty if something else ranks.
        path: the relationships that led to the item, as triplets; empty if the query itself found
            it.
    """

    rank: int
    score: float
    contributions: Mapping[str, float] = Field(default_factory=dict)
    reasons: tuple[MatchReason, ...] = ()
    path: tuple[str, ...] = ()


class ViewNode(GraphModel):
    """A node of the page; without a match it is a neighbor.

    Attributes:
        node: the node with its notes.
        passages: of a source, the passages of its text that match, behind their sections.
    """

    node: GraphNode
    passages: tuple[str, ...] = ()
    match: Match | None = None
    history: tuple[HistoryEntry, ...] = ()


class ViewRelationship(GraphModel):
    """A relationship of the page, `past` if it has ended; without a match it connects its nodes."""

    relationship: GraphRelationship
    past: bool = False
    match: Match | None = None
    history: tuple[HistoryEntry, ...] = ()


class ViewGraph(GraphModel):
    """The graph that the page displays.

    Attributes:
        query: what was searched for; empty for an overview.
        opening: what the page says before their numbers if nothing relevant was found.
        nodes: nodes; both end nodes of each relationship are included.
        relationships: relationships, without duplicates.
        sources: names of the sources of the notes, by entity_key.
        warnings: what is missing from the result, and why.
    """

    query: str
    opening: str = ""
    nodes: tuple[ViewNode, ...] = ()
    relationships: tuple[ViewRelationship, ...] = ()
    sources: Mapping[str, str] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class SourceText(GraphModel):
    """The text of a source, from the passage on that was asked for.

    Attributes:
        name: name of the source.
        said_on: its date, in EDTF; None if that is not known.
        passages: its passages, in order, behind their sections.
    """

    name: str
    said_on: str | None = None
    passages: tuple[str, ...]


class RelationshipWords(GraphModel):
    """Readable name of a Neo4j type, and its words for attitude and proximity from 1 to 5."""

    name: str
    attitude: tuple[str, ...]
    proximity: tuple[str, ...]


class Vocabulary(GraphModel):
    """Labels and relationship types of the ontology; the page assigns colors in their order."""

    labels: tuple[str, ...]
    relationships: dict[str, RelationshipWords]

    @classmethod
    def of(cls, ontology: Ontology) -> Self:
        """Extract the vocabulary of an ontology."""
        return cls(
            labels=tuple(ontology.labels),
            relationships={
                neo4j_type: RelationshipWords(
                    name=humanize_relation_type(neo4j_type),
                    attitude=definition.attitude,
                    proximity=definition.proximity,
                )
                for neo4j_type, definition in ontology.relationships.items()
            },
        )
