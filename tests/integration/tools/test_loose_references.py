"""Parts of names, and names without accents, refer to a node that only one node can be; a write
says which it was.
"""

from typing import Any
from uuid import uuid4

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.support.payloads import error_of, succeeded
from tests.support.people import create_all, person
from tests.support.stored import Database, nodes_of, relationships_of

NAMES = {
    "Ines": "Ines",
    "Anna": "Anna Berger",
    "René": "Rene\u0301",
    "Café": "Cafe\u0301 Mu\u0308ller",
    **{
        name: name
        for name in (
            "Herr Gruber",
            "Bjørn",
            "Łukasz Żak",
            "Dr. Jan van der Beek",
            "Mari\u0301a Garci\u0301a-Lopez (Garci\u0301a)",
            "Nu\u0301n\u0303ez, Ana",
        )
    },
}
"""Names of the nodes, by the words that stand for them."""


async def plant(graph: KnowledgeGraph, user_id: str) -> dict[str, str]:
    """Ines, the owner, her mentor Anna Berger, René, a café, and people with longer names; gives
    their keys.
    """
    more: dict[str, dict[str, Any]] = {
        "Ines": {"properties": {"is_owner": True}},
        "Anna": {"description": "Architect."},
        "Café": {"label": "Entity"},
    }
    created = await create_all(
        graph,
        user_id,
        [{"label": "Person", "name": name, **more.get(word, {})} for word, name in NAMES.items()],
        [{"from": NAMES["Anna"], "to": NAMES["Ines"], "relationship_type": "mentor"}],
    )
    return {word: created[name] for word, name in NAMES.items()}


@pytest.fixture
async def keys(graph: KnowledgeGraph, user_id: str) -> dict[str, str]:
    """The keys of the test's own graph."""
    return await plant(graph, user_id)


@pytest.fixture(scope="module")
async def lasting(opened: KnowledgeGraph) -> tuple[Toolset, dict[str, str]]:
    """The tools and keys of a user whose names stay as they are, for tests that create nothing and
    rename nothing.
    """
    user = f"user-{uuid4()}"
    keys = await plant(opened, user)
    return opened.tools(user_id=user), keys


async def test_one_node_that_may_be_meant_is_found(lasting: tuple[Toolset, dict[str, str]]) -> None:
    tools, keys = lasting
    for reference, named in {
        " ANNA ": "Anna",
        "cafe  muller": "Café",
        "Berger": "Anna",
        "van der Beek": "Dr. Jan van der Beek",
        "Dr. Jan": "Dr. Jan van der Beek",
        "Garcia": "Mari\u0301a Garci\u0301a-Lopez (Garci\u0301a)",
        "Nunez": "Nu\u0301n\u0303ez, Ana",
        "Bjorn": "Bjørn",
        "lukasz": "Łukasz Żak",
    }.items():
        answer = succeeded(await tools.update_node(entity_key=reference, description="x"))
        assert answer["node"]["entity_key"] == keys[named]


async def test_a_write_says_which_node_was_meant_and_a_read_shows_it(
    tools: Toolset, keys: dict[str, str]
) -> None:
    ends = {"from_entity_key": "Anna", "to_entity_key": "me"}
    notice = f"Anna → Anna Berger (Person, {keys['Anna'][:12]})"
    answer = await tools.update_relationship.call_text({**ends, "attitude": 5})
    assert (
        answer.text.splitlines()[0]
        == f"Updated relationship between Anna Berger and Ines. {notice}"
    )
    read = succeeded(await tools.get_relationship(**ends))
    assert read["triplet"] == "Anna Berger mentor Ines"
    assert "→" not in read["message"]
    exact = succeeded(
        await tools.update_relationship(
            from_entity_key="anna BERGER", to_entity_key="me", attitude=4
        )
    )
    assert "→" not in exact["message"]


async def test_a_part_of_a_word_and_a_word_of_a_thing_are_no_references(
    graph: KnowledgeGraph, lasting: tuple[Toolset, dict[str, str]]
) -> None:
    tools, keys = lasting
    before = await nodes_of(graph, tools.user_id)
    for reference in (
        *("Ann", "Annabel", "Cafe", "A", "Anna B", "anna.*", "Anna [B]erger", "\u0301", "Berg"),
        *("Frau Gruber", "Berger Anna", "Lopez"),
    ):
        assert error_of(await tools.update_node(entity_key=reference, description="y")).startswith(
            "Node not found"
        )
    assert await nodes_of(graph, tools.user_id) == before
    assert len(keys) == len(before)
    error = error_of(await tools.remember(notes=[{"on": "Qqxyz", "content": "x"}]))
    assert error == "notes[0] Qqxyz: Node not found: Qqxyz. Add it to nodes to create it"


async def test_a_surname_that_several_have_is_refused_with_all_of_them(
    tools: Toolset, database: Database, keys: dict[str, str]
) -> None:
    other = await person(tools, "Maria Gruber")
    stored = await database.nodes()
    error = error_of(await tools.update_node(entity_key="Gruber", description="x"))
    assert error.startswith("Node not found: Gruber. Nearest to Gruber: ")
    for name, key in (("Herr Gruber", keys["Herr Gruber"]), ("Maria Gruber", other)):
        assert f"{name} (Person, {key[:12]})" in error
    assert await database.nodes() == stored
    assert "Node not found: Maria B" in error_of(
        await tools.update_node(entity_key="Maria B", description="x")
    )


async def test_a_surname_means_the_person_that_the_same_call_creates(
    tools: Toolset, keys: dict[str, str]
) -> None:
    koller = {"label": "Person", "name": "Frau Koller", "description": "Owns the house."}
    payload = succeeded(
        await tools.remember(
            nodes=[koller, {"label": "Concept", "name": "Berger method"}],
            relationships=[
                {"from": "koller", "to": "me", "relationship_type": "landlady of"},
                {"from": "Berger", "to": "me", "relationship_type": "friend"},
            ],
        )
    )
    [created] = [
        one["entity_key"] for one in payload["created_nodes"] if one["name"] == "Frau Koller"
    ]
    assert payload["hints"][:2] == [
        "koller → Frau Koller",
        f"Berger → Anna Berger (Person, {keys['Anna'][:12]})",
    ]
    ends = {"from_entity_key": created, "to_entity_key": "me"}
    assert (
        succeeded(await tools.get_relationship(**ends))["triplet"] == "Frau Koller landlady of Ines"
    )


async def test_a_surname_of_a_stored_person_and_of_one_in_the_same_call_is_refused(
    tools: Toolset, database: Database, keys: dict[str, str]
) -> None:
    maria = {"label": "Person", "name": "Maria Gruber"}
    item = {"from": "Gruber", "to": "me", "relationship_type": "neighbor"}
    payload = succeeded(await tools.remember(nodes=[maria], relationships=[item]))
    [failed] = payload["failures"]
    assert failed["error"] == (
        "Gruber could refer to 2 nodes; give the ref or key of one: "
        f"Herr Gruber (Person, {keys['Herr Gruber'][:12]}); nodes[0] (Maria Gruber)"
    )
    assert len(await database.relationships()) == 1
    described = {"name": "Herr Gruber", "description": "Landlord."}
    payload = succeeded(
        await tools.remember(
            nodes=[described], notes=[{"on": "Herr Gruber", "content": "Rose early."}]
        )
    )
    assert payload["notes_added"] == 1
    misspelled = {"label": "Persn", "name": "Paul Beer"}
    error = error_of(
        await tools.remember(nodes=[misspelled], notes=[{"on": "Beer", "content": "x"}])
    )
    assert "'Beer' is nodes[0], which was not written" in error
    assert keys


async def test_merging_and_deleting_need_the_exact_name(
    tools: Toolset, database: Database, keys: dict[str, str]
) -> None:
    await person(tools, "Anne")
    assert "Node not found: Anna" in error_of(
        await tools.merge_nodes(keep_entity_key="Anne", drop_entity_key="Anna")
    )
    assert "Node not found: Gruber" in error_of(await tools.delete_node(entity_key="Gruber"))
    error = error_of(await tools.delete_node(entity_key="Anna", delete_relationships=True))
    assert error.startswith("Node not found: Anna. Nearest to Anna: ")
    assert f"Anna Berger (Person, {keys['Anna'][:12]})" in error
    assert len(await database.nodes()) == len(keys) + 1


async def test_remember_creates_a_node_with_a_first_name(
    tools: Toolset, database: Database, keys: dict[str, str]
) -> None:
    payload = succeeded(
        await tools.remember(
            nodes=[{"label": "Person", "name": "Anna", "description": "Plays the oboe."}],
            relationships=[{"from": "Anna", "to": "me", "relationship_type": "neighbor"}],
        )
    )
    assert payload["message"] == "Nodes: 1 created. Relationships: 1 created"
    assert payload["created_nodes"][0]["entity_key"] != keys["Anna"]
    stored = {one["name"]: one for one in await database.nodes()}
    assert stored["Anna Berger"]["description"] == "Architect."


@pytest.mark.parametrize(
    "rejected",
    [
        {"label": "Dog", "name": "Anna"},
        {"label": "Person", "name": "Anna Smith", "ref": "Anna", "notes": 7},
    ],
)
async def test_a_rejected_node_of_a_call_is_not_replaced_by_one_with_a_similar_name(
    graph: KnowledgeGraph, lasting: tuple[Toolset, dict[str, str]], rejected: dict[str, Any]
) -> None:
    tools, keys = lasting
    relationship = {"from": "Anna", "to": "René", "relationship_type": "friend"}
    error = error_of(await tools.remember(nodes=[rejected], relationships=[relationship]))
    assert "relationships[0] Anna to René: " in error
    assert len(await relationships_of(graph, tools.user_id)) == 1
    assert len(await nodes_of(graph, tools.user_id)) == len(keys)
