"""Graphs for the page, built without a database."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count

from kgagent.adapters.view import ViewGraph
from kgagent.adapters.view.view_model import Match, MatchReason, ViewNode, ViewRelationship
from kgagent.models import GraphNode, GraphRelationship, Note
from kgagent.ontology import Ontology, default_ontology

MARKUP = (
    "</script><script>window.hit = 1</script><img src=x onerror='window.hit = 1'>%%scripts%%<!--"
)
"""Runs code if any of it is parsed as markup."""

ONTOLOGY: Ontology = default_ontology()
KIND = next(iter(ONTOLOGY.relationships))
LABEL = ONTOLOGY.relationships[KIND].pairs[0][0]


def view_node(key: str, *, rank: int | None = None, text: str = "", label: str = LABEL) -> ViewNode:
    """A node; `text`, if given, replaces all of its texts."""
    notes = (
        Note(
            content=text or "Met in spring",
            added_by=text or "ada",
            date_added=datetime(2026, 1, 1, tzinfo=UTC),
        ),
    )
    properties = {text: text} if text else {"town": "Bristol"}
    node = GraphNode(
        entity_key=key,
        label=label,
        name=text or key,
        description=text or "Keeps bees",
        notes=notes,
        properties=properties,
    )
    return ViewNode(node=node, match=make_match(rank, text))


def view_relationship(
    first: str,
    second: str,
    *,
    rank: int | None = None,
    attitude: int | None = 5,
    proximity: int | None = 3,
    text: str = "",
) -> ViewRelationship:
    """A relationship between two nodes; `text`, if given, replaces all of its texts."""
    relationship = GraphRelationship(
        from_entity_key=first,
        to_entity_key=second,
        from_name=text or first,
        to_name=text or second,
        neo4j_type=KIND,
        relationship_type=text or "mentor",
        description=text or f"{first} guides {second}",
        attitude=attitude,
        proximity=proximity,
        attitude_word=ONTOLOGY.word(KIND, "attitude", attitude),
        proximity_word=ONTOLOGY.word(KIND, "proximity", proximity),
        notes=(Note(content=text or "They meet every March"),),
    )
    return ViewRelationship(relationship=relationship, match=make_match(rank, text))


def make_match(rank: int | None, text: str = "") -> Match | None:
    """The match of an item; None for a neighbor."""
    if rank is None:
        return None
    reason = MatchReason(retriever="semantic search of relationships", similarity=0.625)
    return Match(rank=rank, score=1 / (60 + rank), reasons=(reason,), path=(text,) * bool(text))


def view_graph(
    nodes: Sequence[ViewNode],
    relationships: Sequence[ViewRelationship] = (),
    query: str = "who guides me?",
) -> ViewGraph:
    """A graph for the page."""
    return ViewGraph(query=query, nodes=tuple(nodes), relationships=tuple(relationships))


def two_mentors() -> ViewGraph:
    """A matching mentor and a neighbor who did not match."""
    return view_graph(
        [view_node("Ruth", rank=2), view_node("Ines", rank=3), view_node("Tomasz")],
        [
            view_relationship("Ruth", "Ines", rank=1),
            view_relationship("Tomasz", "Ines", attitude=1, proximity=1),
        ],
    )


def wheel(spokes: int, *, matched: int) -> ViewGraph:
    """A hub with many neighbors, of which the first `matched` are matches."""
    ranks = count(1)
    names = [f"Member {number} of the society" for number in range(spokes)]
    return view_graph(
        [
            view_node("Hub", rank=next(ranks)),
            *(
                view_node(name, rank=next(ranks) if n < matched else None)
                for n, name in enumerate(names)
            ),
        ],
        [
            view_relationship("Hub", name, attitude=n % 5 + 1, proximity=n % 5 + 1)
            for n, name in enumerate(names)
        ],
    )
