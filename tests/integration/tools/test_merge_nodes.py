"""merge_nodes: two nodes become one, all or nothing, every embedding is that of its text, and restore
takes it back.
"""

import asyncio
import json
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import EmbeddingUnavailableError, StoreError
from kgagent.knowledge_graph import services_of
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import WHERE_KEYS_ARE, error_of, succeeded
from tests.support.people import node, person, persons, relate, remembered
from tests.support.stored import (
    Database,
    cypher,
    note_contents,
    relationships_of,
)


async def merge(tools: Toolset, keep: str, drop: str) -> dict[str, Any]:
    return await tools.merge_nodes(keep_entity_key=keep, drop_entity_key=drop)


async def everything(graph: KnowledgeGraph, user_id: str) -> list[dict[str, Any]]:
    return await cypher(
        graph,
        "MATCH (n {user_id: $user}) OPTIONAL MATCH (n)-[r]->(m) "
        "RETURN properties(n) AS n, properties(r) AS r, m.entity_key AS m ORDER BY n.entity_key, m",
        user=user_id,
    )


async def content(database: Database) -> list[dict[str, Any]]:
    """All records without their versions and times of change."""
    nodes, relationships = await database.all()
    return [{**one, "version": 0, "updated_at": 0} for one in (*nodes, *relationships)]


async def joined(graph: KnowledgeGraph, user_id: str) -> dict[frozenset[str], dict[str, Any]]:
    """Relationships by their two ends."""
    stored = await relationships_of(graph, user_id)
    found = {frozenset((item["first"], item["second"])): item for item in stored}
    assert len(found) == len(stored)
    return found


@pytest.fixture
async def keys(tools: Toolset) -> dict[str, str]:
    """Bob and Robert are one; both know Cy, Robert alone knows Di and likes chess."""
    robert = {
        "label": "Person",
        "name": "Robert",
        "description": "Naval architect",
        "notes": ["Born in Rome"],
    }
    draw = {
        "description": "They draw ships",
        "attitude": 2,
        "proximity": 3,
        "notes": ["met at sea", "shared a desk"],
    }
    taught = {"description": "Di taught Robert", "proximity": 5}
    return await remembered(
        tools,
        [
            *({"label": "Person", "name": name} for name in ("Bob", "Cy", "Di")),
            robert,
            {"label": "Concept", "name": "Chess"},
        ],
        [
            {
                "from": "Bob",
                "to": "Cy",
                "relationship_type": "friend",
                "notes": ["met at sea"],
                "attitude": 4,
            },
            {"from": "Cy", "to": "Robert", "relationship_type": "colleague", **draw},
            {"from": "Di", "to": "Robert", "relationship_type": "mentor", **taught},
            {
                "from": "Chess",
                "to": "Robert",
                "relationship_type": "keeps busy",
                "notes": ["every Friday"],
            },
        ],
    )


async def test_relationships_are_moved_or_merged_and_every_embedding_is_current(
    tools: Toolset,
    graph: KnowledgeGraph,
    database: Database,
    embedder: WatchedEmbedder,
    user_id: str,
    keys: dict[str, str],
) -> None:
    before = await joined(graph, user_id)
    embedder.forget()
    payload = succeeded(await merge(tools, keys["Bob"], keys["Robert"]))
    assert payload["message"] == (
        "Merged Robert into Person Bob; restore can undo it until 2125-12-08T00:00Z"
    )
    assert payload["dropped_node"] == {
        "entity_key": keys["Robert"],
        "label": "Person",
        "name": "Robert",
        "description": "Naval architect",
    }
    counts = {name: payload[f"relationships_{name}"] for name in ("moved", "merged", "dropped")}
    assert counts == {"moved": 2, "merged": 1, "dropped": 0}
    assert payload["embeddings_regenerated"] == 2
    [texts] = embedder.stored
    assert "every Friday" in texts
    await database.assert_current()

    after = await joined(graph, user_id)
    assert set(after) == {frozenset((keys["Bob"], keys[name])) for name in ("Cy", "Di", "Chess")}
    one = after[frozenset((keys["Bob"], keys["Cy"]))]
    # What the other relationship says of colleagues would be wrong of friends.
    assert (one["relationship_type"], one.get("description"), one["attitude"]) == (
        "friend",
        None,
        4,
    )
    assert "proximity" not in one
    lost = "Cy colleague Robert (unfriendly, familiar). They draw ships"
    assert note_contents(one) == ["met at sea", "shared a desk", lost]
    for name in ("Di", "Chess"):
        moved, was = (
            found[frozenset((keys[key], keys[name]))]
            for found, key in ((after, "Bob"), (before, "Robert"))
        )
        first, second = sorted((keys["Bob"], keys[name]))
        assert moved["relationship_key"] == f"{was['neo4j_type']}:{len(first)}:{first}:{second}"
        assert (moved["first"] == keys[name]) == (was["first"] == keys[name])
        changed = {
            "relationship_key",
            "statements_hash",
            "version",
            "updated_at",
            "first",
            "second",
        }
        assert {k: v for k, v in moved.items() if k not in changed} == {
            k: v for k, v in was.items() if k not in changed
        }
    shown = succeeded(
        await tools.get_relationship(from_entity_key=keys["Bob"], to_entity_key=keys["Chess"])
    )
    assert [note["content"] for note in shown["relationship"]["notes"]] == ["every Friday"]
    [match] = await graph.retrieval.relationship_vector_search(
        "Di taught Robert", 0.5, user_id=user_id
    )
    assert (match.from_name, match.to_name) == ("Di", "Bob")

    assert payload["node"]["name"] == "Bob"
    assert payload["node"]["description"] == "Naval architect"
    assert [note["content"] for note in payload["node"]["notes"]] == ["Born in Rome"]
    assert keys["Robert"] not in {item["entity_key"] for item in await database.nodes()}
    assert (
        error_of(await merge(tools, keys["Bob"], keys["Robert"]))
        == f"Node not found: {keys['Robert']}" + WHERE_KEYS_ARE
    )


async def test_restoring_the_dropped_node_takes_a_merge_back(
    tools: Toolset, database: Database, keys: dict[str, str]
) -> None:
    cited = [{"content": "Sails", "source_entity_key": keys["Robert"]}]
    succeeded(await tools.update_node(entity_key=keys["Di"], notes=cited))
    before = await content(database)
    succeeded(await merge(tools, keys["Bob"], keys["Robert"]))
    answer = await tools.restore.call_text({"entity_key": "Robert"})
    assert answer.text.splitlines() == [
        f"Restored Person Robert, which was merged into Person Bob ({keys['Bob'][:12]}) and 3 "
        "relationships",
        f"entity_key: {keys['Robert']}",
    ]
    assert await content(database) == before
    await database.assert_current()
    left = "MATCH (n:KgagentDeletedNode|KgagentDeletedRelationship {user_id: $user}) RETURN n"
    assert await database.run(left) == []


async def test_what_was_written_since_a_merge_stays_when_it_is_taken_back(
    tools: Toolset, database: Database, keys: dict[str, str]
) -> None:
    succeeded(await merge(tools, keys["Bob"], keys["Robert"]))
    succeeded(await tools.update_node(entity_key="Bob", notes=["Retired"], aliases=["Bobby"]))
    with_di, with_cy = (
        {"from_entity_key": keys[name], "to_entity_key": "Bob"} for name in ("Di", "Cy")
    )
    succeeded(await tools.update_relationship(**with_di, description="Di taught him chess"))
    succeeded(await tools.add_note_to_relationship(**with_di, content="They write letters"))
    succeeded(await tools.add_note_to_relationship(**with_cy, content="They row again"))
    succeeded(await tools.delete_note(**with_cy, note="met at sea"))
    succeeded(await tools.restore(entity_key="Robert"))
    [bob] = [one for one in await database.nodes() if one["entity_key"] == keys["Bob"]]
    assert (note_contents(bob), bob["aliases"], bob.get("description")) == (
        ["Retired"],
        ["Bobby"],
        "",
    )
    shown = [
        succeeded(await tools.get_relationship(from_entity_key=one, to_entity_key=other))
        for one, other in (("Di", "Robert"), ("Cy", "Bob"), ("Cy", "Robert"))
    ]
    assert [[note["content"] for note in one["relationship"]["notes"]] for one in shown] == [
        ["They write letters"],
        ["They row again"],
        ["met at sea", "shared a desk"],
    ]
    assert shown[0]["relationship"]["description"] == "Di taught him chess"
    assert "not found" in error_of(
        await tools.get_relationship(from_entity_key="Di", to_entity_key="Bob")
    )
    await database.assert_current()


async def test_each_of_several_relationships_of_another_program_moves_and_returns_by_itself(
    tools: Toolset, database: Database
) -> None:
    nord, alp, double = await persons(tools, "Nord", "Alp", "Alp Ltd.")
    await relate(tools, alp, nord, "paid")
    await relate(tools, double, nord, "paid")
    await database.run(
        "MATCH (a:Person {entity_key: $double}), (b:Person {entity_key: $nord}) "
        "UNWIND ['#1', '#2'] AS key CREATE (a)-[r:has_relationship_with {relationship_key: key, "
        "user_id: $user, relationship_type: 'paid', amount: toInteger(substring(key, 1))}]->(b)",
        double=double,
        nord=nord,
    )
    before = [(one["first"], one["relationship_key"]) for one in await database.relationships()]
    counts = succeeded(await merge(tools, alp, double))
    assert (counts["relationships_moved"], counts["relationships_merged"]) == (2, 1)
    moved = await database.relationships()
    assert sorted((one["first"] == alp, one.get("amount", 0)) for one in moved) == [
        (True, 0),
        (True, 1),
        (True, 2),
    ]
    succeeded(await tools.restore(entity_key=double))
    after = [(one["first"], one["relationship_key"]) for one in await database.relationships()]
    assert sorted(after) == sorted(before)
    await database.assert_current()


async def test_merges_of_merged_nodes_are_taken_back_one_after_the_other(
    tools: Toolset, database: Database, keys: dict[str, str]
) -> None:
    before = await content(database)
    succeeded(await merge(tools, keys["Bob"], keys["Robert"]))
    succeeded(await merge(tools, keys["Di"], keys["Bob"]))
    error = error_of(await tools.restore(entity_key="Robert"))
    assert error == (
        f"Person Robert ({keys['Robert'][:12]}) was merged into {keys['Bob'][:12]}, which does not "
        "exist; restore that first"
    )
    for name in ("Bob", "Robert"):
        succeeded(await tools.restore(entity_key=name))
    assert await content(database) == before
    await database.assert_current()


async def test_notes_are_merged_by_date_without_duplicates(
    tools: Toolset, database: Database, clock: Clock
) -> None:
    bob, robert, cy = await persons(tools, "Bob", "Robert", "Cy")
    ends = {key: {"from_entity_key": key, "to_entity_key": cy} for key in (bob, robert)}
    await relate(tools, bob, cy)
    await relate(tools, robert, cy)
    for number, key in enumerate((robert, bob, bob, robert)):
        clock.forward(hours=1)
        succeeded(
            await tools.add_note_to_relationship(
                **ends[key], content=f"note {number}", lifetime="month"
            )
        )
    succeeded(
        await tools.add_note_to_relationship(**ends[bob], content="note 3", lifetime="forever")
    )
    succeeded(await merge(tools, bob, robert))
    clock.forward(days=60)
    succeeded(await tools.update_relationship(**ends[bob], salience=0.1))
    [stored] = await database.relationships()
    assert note_contents(stored) == [f"note {number}" for number in range(4)]
    assert stored["notes_text"] == "note 3"


async def test_a_relationship_between_the_two_is_dropped_and_its_notes_stay_on_the_node(
    tools: Toolset, database: Database
) -> None:
    bob, robert = await person(tools, "Bob", notes=["tall"]), await person(tools, "Robert")
    await relate(
        tools,
        robert,
        bob,
        "looks like",
        notes=["the same voice"],
        description="Twins, perhaps",
        attitude=4,
    )
    payload = succeeded(await merge(tools, bob, robert))
    assert payload["relationships_dropped"] == 1
    lost = "Before the merge: Robert looks like Bob (friendly). Twins, perhaps"
    assert payload["kept_as_notes"] == [lost]
    assert {note["content"] for note in payload["node"]["notes"]} == {
        "tall",
        "the same voice",
        lost,
    }
    assert await database.relationships() == []
    await database.assert_current()


async def test_a_relationship_in_the_opposite_direction_becomes_a_note_that_says_it_in_full(
    tools: Toolset, database: Database
) -> None:
    lea, orr, xan = await persons(tools, "Lea", "L. Orr", "Xan")
    await relate(tools, lea, xan, "manages", attitude=4)
    await relate(tools, xan, orr, "manages", description="Since the spin-off", when="2024")
    payload = succeeded(await merge(tools, lea, orr))
    lost = "Xan manages L. Orr. Since the spin-off"
    assert payload["kept_as_notes"] == [lost]
    [stored] = await database.assert_current()
    assert (stored["relationship_type"], stored.get("description")) == ("manages", "")
    assert "when" not in stored
    assert [(note["content"], note["when"]) for note in json.loads(stored["notes"])] == [
        (lost, "2024")
    ]


@pytest.mark.parametrize(
    ("kept", "other", "expected"),
    [
        ("2010/2012", "2015/..", "2010/2012; 2015/.."),
        ("2010/2016", "2015/..", "2010/.."),
        ("2010/2012", None, "2010/2012; 2020/.."),
        (None, "2010/2012", "2010/2012; 2020/.."),
    ],
)
async def test_relationships_that_become_one_hold_at_the_times_of_both(
    tools: Toolset, database: Database, kept: str | None, other: str | None, expected: str
) -> None:
    anna, al, bo = await persons(tools, "Anna", "Al", "Bo")
    for who, when in ((anna, kept), (al, other)):
        item = {"from": who, "to": bo, "relationship_type": "friend"}
        item |= {"when": when} if when else {}
        succeeded(await tools.remember(relationships=[item], said_on="2020"))
    payload = succeeded(await merge(tools, anna, al))
    assert payload["kept_as_notes"] == []
    [stored] = await database.assert_current()
    assert stored["when"] == expected


async def test_a_node_that_gets_another_home_by_a_merge_has_both_marked(tools: Toolset) -> None:
    anna, al, oslo, rome = await persons(tools, "Anna", "Al", "Oslo", "Rome")
    for who, home, said_on in ((anna, oslo, "2020"), (al, rome, "2021")):
        item = {"from": who, "to": home, "relationship_type": "lives in"}
        succeeded(await tools.remember(relationships=[item], said_on=said_on))
    succeeded(await merge(tools, anna, al))
    shown = succeeded(await tools.get_relationship(from_entity_key=anna, format="text"))["text"]
    assert str(shown).count("conflicts with Anna lives in") == 2


async def test_a_symmetric_relationship_in_the_opposite_direction_is_the_same(
    tools: Toolset, database: Database
) -> None:
    lea, orr, xan = await persons(tools, "Lea", "L. Orr", "Xan")
    await relate(tools, lea, xan, "friend, close friend")
    await relate(tools, xan, orr, "Close-friend, friend", description="They row")
    assert succeeded(await merge(tools, lea, orr))["kept_as_notes"] == []
    [stored] = await database.assert_current()
    assert stored["description"] == "They row"
    assert note_contents(stored) == []


async def test_properties_that_the_kept_node_lacks_are_taken_over_and_other_values_become_a_note(
    tools: Toolset, database: Database
) -> None:
    bob, robert = await persons(tools, "Bob", "Robert")
    await database.run(
        "MATCH (a:Person {entity_key: $bob}), (b:Person {entity_key: $robert}) SET a.born = 1970, "
        "b.born = date('1971-01-02'), b.is_owner = true, b.since = date('2019-05-01'), "
        "a.description = 'Draws.', b.description = 'Sails. ', "
        "a.shoes = [42, 43], b.shoes = [42, 43], a.hats = ['cap'], b.hats = ['beret', 'fez'], "
        "a.name_embedding = [0.1, 0.2], b.name_embedding = [0.3, 0.4], a.vector = [0.1], b.vector "
        "= [0.2], "
        "a.history = 'none', b.history = $long, a.empty = 'x', b.empty = []",
        bob=bob,
        robert=robert,
        long="long " * 1_000,
    )
    lost = "Sails. born: 1971-01-02. hats: beret, fez"
    assert succeeded(await merge(tools, bob, robert))["kept_as_notes"] == [lost]
    [stored] = await database.nodes()
    assert note_contents(stored) == [lost]
    assert (stored["born"], stored["is_owner"], str(stored["since"])) == (1970, True, "2019-05-01")
    assert (stored["entity_key"], stored["name"]) == (bob, "Bob")


async def test_a_key_made_of_the_name_stays(tools: Toolset) -> None:
    chess, game = await node(tools, "Concept", "Chess"), await node(tools, "Concept", "Royal game")
    succeeded(await merge(tools, chess, game))
    assert "exists already" in error_of(await tools.create_node(label="Concept", name="chess"))
    refusal = error_of(await tools.create_node(label="Concept", name="royal GAME"))
    assert refusal.startswith(
        f"'royal GAME' is an alias of the Concept 'Chess' ({chess[:12]}). Use update_node"
    )
    again = {"label": "Concept", "name": "Royal game", "new": True}
    assert succeeded(await tools.remember(nodes=[again]))["created_nodes"][0]["entity_key"] == game


async def test_notes_that_name_the_dropped_node_as_their_source_name_the_kept_one(
    tools: Toolset, database: Database, embedder: WatchedEmbedder
) -> None:
    first, second = (
        await node(tools, "Source", "Talk", "of May"),
        await node(tools, "Source", "Talk", "of June"),
    )
    succeeded(await tools.update_node(entity_key=second, description="of May"))
    ada = await person(tools, "Ada", notes=[{"content": "sails", "source_entity_key": second}])
    bo = await person(tools, "Bo", notes=[f"says {second}"])
    await relate(tools, ada, bo, notes=[{"content": "row", "source_entity_key": second}, "bake"])
    embedder.forget()
    assert succeeded(await merge(tools, first, second))["sources_renamed"] == 2
    # The former description of the second.
    assert embedder.stored == [["of June"]]
    stored = await database.relationships() + await database.nodes()
    stored_notes = [item["notes"] for item in stored if "notes" in item]
    assert sum(f'"source_entity_key":"{first}"' in notes for notes in stored_notes) == 2
    assert sum(second in notes for notes in stored_notes) == 1
    await database.assert_current()


async def test_nodes_that_cannot_be_merged_are_an_error_and_nothing_changes(
    tools: Toolset, graph: KnowledgeGraph, user_id: str, keys: dict[str, str]
) -> None:
    theirs = graph.tools(user_id=f"{user_id}-other")
    other = await person(theirs, "Bob", "secret")
    before = await everything(graph, user_id), await everything(graph, theirs.user_id)
    assert "merged with itself" in error_of(await merge(tools, keys["Bob"], keys["Bob"]))
    assert (
        error_of(await merge(tools, keys["Bob"], "ghost"))
        == "Node not found: ghost" + WHERE_KEYS_ARE
    )
    assert (
        error_of(await merge(tools, keys["Bob"], other))
        == f"Node not found: {other}" + WHERE_KEYS_ARE
    )
    assert (
        error_of(await merge(tools, other, keys["Bob"]))
        == f"Node not found: {other}" + WHERE_KEYS_ARE
    )
    error = error_of(await merge(tools, keys["Bob"], keys["Chess"]))
    assert error == (
        f"Only nodes of one label can be merged, got Person 'Bob' ({keys['Bob'][:12]}) and Concept "
        f"'Chess' "
        f"({keys['Chess'][:12]}). Copy what the node to keep lacks, then delete the other"
    )
    assert (await everything(graph, user_id), await everything(graph, theirs.user_id)) == before


async def test_relationships_of_other_programs_are_kept(
    tools: Toolset, graph: KnowledgeGraph, database: Database, user_id: str, keys: dict[str, str]
) -> None:
    theirs = await person(graph.tools(user_id=f"{user_id}-other"), "Eve")
    for text in (
        "MATCH (n:Person {entity_key: $key}) CREATE (n)-[:WROTE]->(:Doc {user_id: $user})",
        "MATCH (n:Person {entity_key: $key}), (m:Person {entity_key: $theirs}) "
        "CREATE (n)<-[:has_relationship_with {user_id: $user}]-(m)",
    ):
        await database.run(text, key=keys["Robert"], theirs=theirs)
        before = await everything(graph, user_id)
        assert "relationships that kgagent does not manage" in error_of(
            await merge(tools, keys["Bob"], keys["Robert"])
        )
        assert await everything(graph, user_id) == before
        await database.run(
            "MATCH (:Person {entity_key: $key})-[r]-(m) WHERE type(r) = 'WROTE' OR m.entity_key = "
            "$theirs DELETE r",
            key=keys["Robert"],
            theirs=theirs,
        )
    succeeded(await merge(tools, keys["Bob"], keys["Robert"]))


async def test_a_merge_of_too_many_records_is_refused(
    tools: Toolset, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgagent.graph.merging.MAX_RECORDS", 2)
    assert "more than 2 records;" in error_of(await merge(tools, keys["Bob"], keys["Robert"]))
    succeeded(await merge(tools, keys["Robert"], keys["Bob"]))


async def test_a_failing_embedder_or_database_changes_nothing(
    tools: Toolset,
    graph: KnowledgeGraph,
    embedder: WatchedEmbedder,
    user_id: str,
    keys: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = await everything(graph, user_id)
    embedder.failure = EmbeddingUnavailableError("the model is down")
    assert error_of(await merge(tools, keys["Bob"], keys["Robert"])).endswith("the model is down")
    embedder.failure = None

    async def down(*_: object, **__: object) -> None:
        raise StoreError("down")

    with monkeypatch.context() as patch:
        patch.setattr(services_of(graph).store, "write", down)
        assert error_of(await merge(tools, keys["Bob"], keys["Robert"])) == "down"
    assert await everything(graph, user_id) == before


@pytest.mark.parametrize(
    "place", ["moved", "united", "kept node", "dropped node", "new", "new beside"]
)
async def test_a_write_between_reading_and_writing_is_not_lost(
    tools: Toolset,
    graph: KnowledgeGraph,
    database: Database,
    embedder: WatchedEmbedder,
    user_id: str,
    clock: Clock,
    keys: dict[str, str],
    place: str,
) -> None:
    eve = await person(tools, "Eve")
    embedder.forget()
    embedder.gate.clear()
    merging = asyncio.create_task(merge(tools, keys["Bob"], keys["Robert"]))
    await embedder.asked_for(1)
    other = KnowledgeGraph(
        services_of(graph).store, graph.ontology, WatchedEmbedder(), graph.settings, clock=clock
    )
    beside = other.tools(user_id=user_id)
    if place in {"moved", "united"}:
        to = keys["Di" if place == "moved" else "Cy"]
        ends = {"from_entity_key": keys["Robert"], "to_entity_key": to}
        succeeded(await beside.add_note_to_relationship(**ends, content="just now"))
    elif place in {"kept node", "dropped node"}:
        key = keys["Bob" if place == "kept node" else "Robert"]
        succeeded(await beside.update_node(entity_key=key, notes=["just now"]))
    elif place == "new":
        await relate(beside, keys["Robert"], eve, "neighbour", description="just now")
    else:
        await relate(beside, keys["Bob"], keys["Di"], "neighbour", description="just now")
    embedder.gate.set()
    succeeded(await merging)
    stored = [*await database.assert_current(), *await database.nodes()]
    assert (
        sum("just now" in [*note_contents(item), item.get("description")] for item in stored) == 1
    )
    assert len(await joined(graph, user_id)) == (4 if place == "new" else 3)


async def test_one_of_two_concurrent_merges_of_a_node_succeeds(
    agents: list[Toolset], database: Database, keys: dict[str, str]
) -> None:
    answers = await asyncio.gather(
        merge(agents[0], keys["Bob"], keys["Robert"]),
        merge(agents[1], keys["Di"], keys["Robert"]),
        merge(agents[2], keys["Robert"], keys["Cy"]),
    )
    assert any(answer["success"] for answer in answers)
    for answer in answers:
        if not answer["success"]:
            assert error_of(answer).startswith("Node not found")
    await database.assert_current()
    names = {item["name"] for item in await database.nodes()}
    assert len(names) == 5 - sum(answer["success"] for answer in answers)
