"""Graphs for the page, made up without a database."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count

from kgagent.adapters.view import ViewGraph
from kgagent.adapters.view.model import Reason, SeenNode, SeenRelationship, Standing
from kgagent.models import GraphNode, GraphRelationship, Note
from kgagent.ontology import Ontology, default_ontology

MARKUP = "</script><script>window.hit = 1</script><img src=x onerror='window.hit = 1'>%%scripts%%<!--"
"""What would run if any of it were taken as markup."""

ONTOLOGY: Ontology = default_ontology()
KIND = next(iter(ONTOLOGY.relationships))
LABEL = ONTOLOGY.relationships[KIND].from_label


def seen_node(key: str, *, rank: int | None = None, text: str = "", label: str = LABEL) -> SeenNode:
    """A node; its name is its key unless a text is given, which is then its every text."""
    notes = (
        Note(content=text or "Met in spring", added_by=text or "ada", date_added=datetime(2026, 1, 1, tzinfo=UTC)),
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
    return SeenNode(node=node, standing=standing(rank, text))


def seen_relationship(
    first: str,
    second: str,
    *,
    rank: int | None = None,
    attitude: int | None = 5,
    proximity: int | None = 3,
    text: str = "",
) -> SeenRelationship:
    """A relationship between two nodes; a text is its every text."""
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
    return SeenRelationship(relationship=relationship, standing=standing(rank, text))


def standing(rank: int | None, text: str = "") -> Standing | None:
    """Why an item is there; None for one that only surrounds."""
    if rank is None:
        return None
    reason = Reason(found_among="relationships by meaning", similarity=0.625, matched=text)
    return Standing(
        rank=rank, score=1 / (60 + rank), score_meaning="made up", reasons=(reason,), path=(text,) * bool(text)
    )


def seen_graph(
    nodes: Sequence[SeenNode], relationships: Sequence[SeenRelationship] = (), asked: str = "who guides me?"
) -> ViewGraph:
    """A graph for the page."""
    return ViewGraph(asked=asked, ranked_together=True, nodes=tuple(nodes), relationships=tuple(relationships))


def two_mentors() -> ViewGraph:
    """A mentor who matched, and someone next to her who did not."""
    return seen_graph(
        [seen_node("Ruth", rank=2), seen_node("Ines", rank=3), seen_node("Tomasz")],
        [seen_relationship("Ruth", "Ines", rank=1), seen_relationship("Tomasz", "Ines", attitude=1, proximity=1)],
    )


def wheel(spokes: int, *, matched: int) -> ViewGraph:
    """One node in the middle of many others, of which the first matched."""
    ranks = count(1)
    names = [f"Member {number} of the society" for number in range(spokes)]
    return seen_graph(
        [
            seen_node("Hub", rank=next(ranks)),
            *(seen_node(name, rank=next(ranks) if n < matched else None) for n, name in enumerate(names)),
        ],
        [seen_relationship("Hub", name, attitude=n % 5 + 1, proximity=n % 5 + 1) for n, name in enumerate(names)],
    )
