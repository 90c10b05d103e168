"""A note is found and shown wherever it stands among the notes of its record, with the local
model.
"""

import itertools

import pytest

from kgagent import KnowledgeGraph
from kgagent.embedding.local import LocalEmbedder
from kgagent.knowledge_graph import services_of
from tests.conftest import Clock
from tests.support.local_model import embedder
from tests.support.people import create_all

__all__ = ["embedder"]

PEOPLE = ("Ruth", "Ada", "Bo", "Cy", "Di", "Eve", "Finn", "Gus")

ANSWERS = {
    1: (
        "Adopted a grey greyhound called Biscuit from the shelter",
        "which dog lives in the house?",
    ),
    15: ("Broke a wrist falling off the stable roof", "what injury was there?"),
    50: (
        "Sings tenor in the church choir on Thursdays",
        "who makes music with a group every week?",
    ),
    200: ("Must never eat prawns, they make the throat swell", "which food causes an allergy?"),
}
"""By position of the note, the note and a question about it."""

ACTS = ("Repainted the {} in {}", "Lost the {} on the way to {}", "Sold a {} at the market of {}")
THINGS = ("bicycle", "fence", "kitchen clock", "suitcase", "red lamp", "canoe", "typewriter")
PLACES = ("Bergen", "Lyon", "Porto", "Turin", "Graz", "Ghent", "Malmö", "Gdańsk", "Cork", "Split")


def statements(count: int) -> list[str]:
    """Notes on different topics, with those that answer at their positions."""
    others = (
        act.format(thing, place) for act, thing, place in itertools.product(ACTS, THINGS, PLACES)
    )
    return [ANSWERS[at][0] if at in ANSWERS else next(others) for at in range(1, count + 1)]


@pytest.fixture
async def graph(
    opened: KnowledgeGraph, embedder: LocalEmbedder, clock: Clock, user_id: str
) -> KnowledgeGraph:
    """Friends of Ruth, each with one note, and one relationship with 200 notes."""
    friends = KnowledgeGraph(
        services_of(opened).store, opened.ontology, embedder, opened.settings, clock=clock
    )
    friend = {"to": "Ruth", "relationship_type": "friend", "description": "They met at school"}
    pairs = [{"from": name, **friend, "notes": [f"{name} moved house"]} for name in PEOPLE[2:]]
    await create_all(
        friends,
        user_id,
        [{"label": "Person", "name": name} for name in PEOPLE],
        [{"from": "Ada", **friend, "notes": statements(200)}, *pairs],
    )
    return friends


async def test_a_note_is_shown_on_the_first_page_wherever_it_stands(
    graph: KnowledgeGraph, user_id: str
) -> None:
    for note, question in ANSWERS.values():
        answer = await graph.tools(user_id=user_id)["hybrid_search"].call_text({"query": question})
        assert note in answer.text, question
