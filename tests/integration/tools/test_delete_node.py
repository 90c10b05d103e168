"""delete_node and restore: what is deleted is found by nothing, and comes back with its
relationships.
"""

import asyncio
from typing import Any

import neo4j
import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import EmbeddingUnavailableError, StoreError
from kgagent.knowledge_graph import services_of
from kgagent.tools import Toolset
from tests.conftest import Clock, Server
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import error_of, succeeded
from tests.support.people import node, person, persons, relate, remembered
from tests.support.stored import (
    Database,
    note_contents,
)
from tests.support.transactions import watch

NOTES = [
    {"content": "Moved to Rome", "lifetime": "month"},
    {"content": "Plays chess", "lifetime": "forever"},
]
KEPT = "MATCH (n:KgagentDeletedNode|KgagentDeletedRelationship {user_id: $user}) RETURN properties(n) AS kept"


async def kept(database: Database) -> list[dict[str, Any]]:
    """What is kept of deleted records of a user."""
    return [row["kept"] for row in await database.run(KEPT)]


def with_new_versions(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**record, "version": record["version"] + 1} for record in records]


@pytest.fixture
async def keys(tools: Toolset) -> dict[str, str]:
    """Ada knows Bo and Cy and likes chess, which Bo likes too."""
    ada = {"label": "Person", "name": "Ada", "description": "Naval architect", "notes": NOTES}
    row = {"description": "They row", "attitude": 5, "notes": NOTES}
    return await remembered(
        tools,
        [
            ada,
            *({"label": "Person", "name": name} for name in ("Bo", "Cy")),
            {"label": "Concept", "name": "Chess"},
        ],
        [
            {"from": "Ada", "to": "Bo", "relationship_type": "mentor", **row},
            {"from": "Cy", "to": "Ada", "relationship_type": "friend", "proximity": 2},
            {"from": "Chess", "to": "Ada", "relationship_type": "keeps busy"},
            {"from": "Bo", "to": "Chess", "relationship_type": "likes"},
        ],
    )


async def delete(tools: Toolset, key: str) -> dict[str, Any]:
    return await tools.delete_node(entity_key=key, delete_relationships=True)


async def test_a_deleted_node_is_restored_unchanged_with_its_relationships_and_only_statements_are_embedded(
    tools: Toolset,
    database: Database,
    embedder: WatchedEmbedder,
    clock: Clock,
    keys: dict[str, str],
) -> None:
    await database.run(
        "MATCH (n:Person|Concept {entity_key: $key}) SET n:Employee, n.born = date('1990-05-01'), "
        "n.tags = ['a'], "
        "n.at = point({latitude: 1.5, longitude: 2.5}) "
        "WITH n MATCH (n)-[r]-() SET r.since = date('2019-05-01'), r.lasted = duration('P2Y')",
        key=keys["Ada"],
    )
    nodes, relationships = await database.all()
    embedder.forget()
    clock.forward(days=1)
    deleted = succeeded(await delete(tools, keys["Ada"]))
    assert deleted["message"] == (
        "Deleted Person Ada and 3 relationships; restore can undo it until 2125-12-09T00:00Z"
    )
    assert deleted["relationships_deleted"] == 3
    assert deleted["node"] == {"entity_key": keys["Ada"], "label": "Person", "name": "Ada"}
    assert deleted["undo_until"] == "2125-12-09T00:00:00Z"
    left = [item for item in relationships if keys["Ada"] not in (item["first"], item["second"])]
    assert await database.all() == (
        [one for one in nodes if one["entity_key"] != keys["Ada"]],
        left,
    )
    clock.forward(days=2)
    restored = succeeded(await tools.restore(entity_key=keys["Ada"]))
    assert restored["message"] == "Restored Person Ada and 3 relationships"
    assert (restored["relationships_restored"], restored["embeddings_regenerated"]) == (3, 0)
    [texts] = embedder.stored
    notes = {
        note
        for item in (*nodes, *relationships)
        if item not in left
        for note in note_contents(item)
    }
    assert set(texts) == notes | {"Ada Naval architect", "They row mentor close"}
    now_nodes, now_relationships = await database.all()
    changed = with_new_versions([one for one in nodes if one["entity_key"] == keys["Ada"]])
    assert [one for one in now_nodes if one["entity_key"] == keys["Ada"]] == changed
    assert now_relationships == [
        item if item in left else with_new_versions([item])[0] for item in relationships
    ]
    [labels] = await database.run(
        "MATCH (n:Person|Concept {entity_key: $key}) RETURN labels(n) AS labels", key=keys["Ada"]
    )
    assert set(labels["labels"]) == {"Person", "Employee"}
    assert await kept(database) == []
    await database.assert_current()


async def test_a_node_with_relationships_is_refused_without_permission(
    tools: Toolset, database: Database, keys: dict[str, str]
) -> None:
    before = await database.all()
    error = error_of(await tools.delete_node(entity_key="Ada"))
    assert error.startswith(
        f"Person Ada ({keys['Ada'][:12]}) has 3 relationships, which would be deleted too: "
    )
    assert "'Ada mentor Bo'" in error
    assert "'Chess keeps busy Ada'" in error
    assert "Set delete_relationships to true" in error
    assert await database.all() == before
    alone = await person(tools, "Eve")
    answer = await tools.delete_node.call_text({"entity_key": "Eve"})
    assert answer.text.splitlines() == [
        "Deleted Person Eve; restore can undo it until 2125-12-08T00:00Z",
        f"entity_key: {alone}",
        "undo_until: 2125-12-08T00:00:00Z",
    ]
    restored = await tools.restore.call_text({"entity_key": "eve"})
    assert restored.text == f"Restored Person Eve\nentity_key: {alone}"


async def test_the_owner_is_not_deleted(tools: Toolset, database: Database) -> None:
    await person(tools, "Me", is_owner=True)
    assert "is the owner of this graph and cannot be deleted" in error_of(await delete(tools, "me"))
    assert len(await database.nodes()) == 1


async def test_no_search_finds_a_deleted_node_and_doctor_finds_no_problem(
    tools: Toolset, graph: KnowledgeGraph, user_id: str, keys: dict[str, str]
) -> None:
    succeeded(await delete(tools, keys["Ada"]))
    for payload in (
        await tools.explore(
            queries=[{"query": "naval architect", "threshold": -1}], text_matches=["Ada"]
        ),
        await tools.hybrid_search(query="Naval architect who rows and moved to Rome"),
        await tools.traverse(entity_key=keys["Bo"], hops=3),
        await tools.describe_graph(),
    ):
        told = str(succeeded(payload))
        assert "Ada" not in told
        assert "rchitect" not in told
        assert "agentDeleted" not in told
        assert "kgagent_" not in told
    assert error_of(await tools.update_node(entity_key=keys["Ada"], name="x")).startswith(
        "Node not found"
    )
    assert "not found" in error_of(
        await tools.get_relationship(from_entity_key=keys["Ada"], to_entity_key=keys["Bo"])
    )
    diagnosis = await graph.diagnose(user_id=user_id)
    assert diagnosis.facts.relationships == 1
    assert not [finding for finding in diagnosis.findings if "eleted" in finding.message]


async def test_notes_that_expired_meanwhile_leave_the_embeddings(
    tools: Toolset, database: Database, clock: Clock, keys: dict[str, str]
) -> None:
    clock.forward(days=20)
    succeeded(await delete(tools, keys["Ada"]))
    clock.forward(days=20)
    assert succeeded(await tools.restore(entity_key="Ada"))["embeddings_regenerated"] == 2
    await database.assert_current()


async def test_a_node_that_was_created_again_receives_what_is_restored(
    tools: Toolset, database: Database, keys: dict[str, str]
) -> None:
    succeeded(
        await tools.update_node(entity_key=keys["Chess"], description="Old", notes=["Won once."])
    )
    succeeded(await delete(tools, keys["Chess"]))
    assert await node(tools, "Concept", "chess", "The new one") == keys["Chess"]
    await relate(tools, keys["Bo"], keys["Chess"], "teaches")
    answer = succeeded(await tools.restore(entity_key="Chess"))
    assert answer["message"] == (
        f"Restored Concept chess and 2 relationships into Concept chess ({keys['Chess'][:12]}), "
        f"which was created "
        "after the deletion. Kept as a note, description: Old"
    )
    assert answer["node"]["entity_key"] == keys["Chess"]
    [chess] = [one for one in await database.nodes() if one["name"].lower() == "chess"]
    assert (chess["entity_key"], chess["description"]) == (keys["Chess"], "The new one")
    assert note_contents(chess) == ["Won once.", "Old"]
    assert await kept(database) == []
    of_chess = [
        one for one in await database.relationships() if one["relationship_type"] in {"keeps busy"}
    ]
    assert len(of_chess) == 1
    await database.assert_current()


async def test_a_node_whose_key_another_one_has_is_restored_with_a_new_key(
    tools: Toolset, database: Database
) -> None:
    ruth = {"label": "Person", "name": "Ruth Calder"}
    bo = {"label": "Person", "name": "Bo"}
    knows = {"from": "Ruth Calder", "to": "Bo", "relationship_type": "knows"}
    payload = succeeded(await tools.remember(nodes=[ruth, bo], relationships=[knows]))
    key = payload["created_nodes"][0]["entity_key"]
    succeeded(await delete(tools, key))
    succeeded(await tools.remember(nodes=[ruth]))
    succeeded(await tools.update_node(entity_key=key, name="Ruth Holm"))
    answer = succeeded(await tools.restore(entity_key="Ruth Calder"))
    assert answer["message"].startswith(
        "Restored Person Ruth Calder and 1 relationship. It has a new key, because "
    )
    assert answer["node"]["entity_key"] != key
    [relationship] = await database.relationships()
    ends = {"from_entity_key": answer["node"]["entity_key"], "to_entity_key": "Bo"}
    assert succeeded(await tools.get_relationship(**ends))["triplet"] == "Ruth Calder knows Bo"
    assert relationship["relationship_type"] == "knows"
    succeeded(await tools.delete_relationship(**ends))
    succeeded(await tools.restore(**ends))


async def test_a_relationship_whose_other_node_does_not_exist_stays_deleted_until_it_does(
    tools: Toolset, database: Database, keys: dict[str, str]
) -> None:
    before = await database.all()
    succeeded(await delete(tools, keys["Ada"]))
    succeeded(await delete(tools, keys["Bo"]))
    answer = succeeded(await tools.restore(entity_key="Ada"))
    assert answer["message"] == (
        "Restored Person Ada and 2 relationships. Skipped 1 relationship with nodes that do not "
        "exist: "
        f"{keys['Bo'][:12]}; restore restores each once its node is back"
    )
    assert answer["relationships_skipped"] == 1
    succeeded(await tools.restore(entity_key="Bo"))
    ends = {"from_entity_key": keys["Ada"], "to_entity_key": keys["Bo"]}
    assert succeeded(await tools.restore(**ends))["triplet"] == "Ada mentor Bo"
    assert await kept(database) == []
    after = await database.all()
    for was, now in zip((*before[0], *before[1]), (*after[0], *after[1]), strict=True):
        assert {**was, "version": 0} == {**now, "version": 0}
    await database.assert_current()


async def test_a_reference_to_several_deleted_nodes_or_to_none_is_an_error(tools: Toolset) -> None:
    for _ in range(2):
        succeeded(await tools.delete_node(entity_key=await person(tools, "Bob")))
    both = error_of(await tools.restore(entity_key="bob"))
    assert both.startswith(
        "'bob' could refer to 2 deleted nodes; give the key of one: Person Bob ("
    )
    assert "deleted on 2026-01-01" in both
    assert error_of(await tools.restore(entity_key="Bobby")) == (
        "There is no deleted node 'Bobby' that can be restored"
    )
    existing = await person(tools, "Cy")
    assert error_of(await tools.restore(entity_key=existing)).startswith(
        "There is no deleted node "
    )
    key = both.partition("Person Bob (")[2][:12]
    assert succeeded(await tools.restore(entity_key=key))["node"]["entity_key"].startswith(key)


async def test_without_an_undo_window_nothing_is_kept(
    graph: KnowledgeGraph,
    embedder: WatchedEmbedder,
    database: Database,
    user_id: str,
    clock: Clock,
    keys: dict[str, str],
) -> None:
    settings = graph.settings.model_copy(update={"undo_days": 0.0})
    tools = KnowledgeGraph(
        services_of(graph).store, graph.ontology, embedder, settings, clock=clock
    ).tools(user_id=user_id)
    ends = {"from_entity_key": "Ada", "to_entity_key": "Bo"}
    payload = succeeded(await tools.delete_relationship(**ends))
    assert payload["message"] == "Deleted relationship between Ada and Bo; it cannot be undone"
    assert "no deleted relationship" in error_of(await tools.restore(**ends))
    payload = succeeded(await delete(tools, keys["Ada"]))
    assert payload["message"] == "Deleted Person Ada and 2 relationships; it cannot be undone"
    assert "undo_until" not in payload
    assert await kept(database) == []
    assert error_of(await tools.restore(entity_key=keys["Ada"])).startswith(
        "There is no deleted node"
    )


async def test_relationships_of_other_programs_prevent_a_deletion(
    tools: Toolset, database: Database, keys: dict[str, str]
) -> None:
    await database.run(
        "MATCH (a:Person|Concept {entity_key: $a}), (b:Person|Concept {entity_key: $b}) CREATE "
        "(a)-[:billed_by]->(b)",
        a=keys["Ada"],
        b=keys["Bo"],
    )
    error = error_of(await delete(tools, keys["Ada"]))
    assert "relationships that kgagent does not manage (billed_by)" in error
    assert len(await database.nodes()) == 4


async def test_a_restored_node_is_reported_and_a_deleted_one_is_not(
    graph: KnowledgeGraph, user_id: str, keys: dict[str, str]
) -> None:
    seen: list[str] = []
    tools = graph.tools(
        user_id=user_id, on_change=lambda _before, after: seen.append(type(after).__name__)
    )
    succeeded(await delete(tools, keys["Ada"]))
    assert seen == []
    succeeded(await tools.restore(entity_key=keys["Ada"]))
    assert seen == ["GraphNode", *["GraphRelationship"] * 3]


async def test_a_failing_database_or_embedder_changes_nothing(
    tools: Toolset,
    graph: KnowledgeGraph,
    database: Database,
    embedder: WatchedEmbedder,
    keys: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = await database.all()

    async def down(*_: object, **__: object) -> None:
        raise StoreError("down")

    with monkeypatch.context() as patch:
        patch.setattr(services_of(graph).store, "write", down)
        assert error_of(await delete(tools, keys["Ada"])) == "down"
    assert await database.all() == before
    succeeded(await delete(tools, keys["Ada"]))
    await database.run("MATCH (n:KgagentDeletedNode {user_id: $user}) SET n.embedding_hash = 'x'")
    embedder.failure = EmbeddingUnavailableError("the model is down")
    assert error_of(await tools.restore(entity_key="Ada")).endswith("the model is down")
    embedder.failure = None
    assert len(await kept(database)) == 4
    assert succeeded(await tools.restore(entity_key="Ada"))["embeddings_regenerated"] == 1


async def test_a_relationship_created_meanwhile_makes_the_deletion_look_again(
    tools: Toolset, database: Database, server: Server, user_id: str
) -> None:
    """The other program holds the node's lock, so the deletion has read the node before it gets a
    relationship.
    """
    ada, bo = await persons(tools, "Ada", "Bo")
    driver = neo4j.AsyncGraphDatabase.driver(server.uri, auth=(server.username, server.password))
    async with driver, driver.session() as session, watch(server, user_id) as transactions:
        other = await session.begin_transaction()
        made = await other.run(
            "MATCH (a:Person|Concept {entity_key: $a}), (b:Person|Concept {entity_key: $b}) SET "
            "a.write_lock = true "
            "CREATE (a)-[:has_relationship_with {relationship_type: 'friend'}]->(b) REMOVE "
            "a.write_lock",
            a=ada,
            b=bo,
        )
        await made.consume()
        waiting = asyncio.create_task(tools.delete_node(entity_key=ada))
        await transactions.until_blocked()
        await other.commit()
        assert "has 1 relationship, which would be deleted too: 'Ada friend Bo'" in error_of(
            await waiting
        )
    assert len(await database.relationships()) == 1
    assert await kept(database) == []


async def test_one_of_several_concurrent_deletions_and_restorations_succeeds(
    tools: Toolset, database: Database, keys: dict[str, str]
) -> None:
    answers = await asyncio.gather(*(delete(tools, keys["Ada"]) for _ in range(5)))
    assert sorted(answer["success"] for answer in answers) == [False] * 4 + [True]
    assert len(await kept(database)) == 4
    answers = await asyncio.gather(*(tools.restore(entity_key=keys["Ada"]) for _ in range(5)))
    assert sorted(answer["success"] for answer in answers) == [False] * 4 + [True]
    assert await kept(database) == []
    await database.assert_current()


async def test_what_is_written_during_a_deletion_is_restored_or_was_rejected(
    tools: Toolset, database: Database, keys: dict[str, str]
) -> None:
    ada = keys["Ada"]
    acknowledged, related = [], []
    for turn in range(2):
        other = await person(tools, f"Eve {turn}")
        notes = [f"note {turn} {number}" for number in range(3)]
        *answers, made, deleted = await asyncio.gather(
            tools.add_note_to_relationship(
                from_entity_key=ada, to_entity_key=keys["Bo"], content=notes[0]
            ),
            tools.update_node(entity_key=ada, notes=[notes[1]]),
            tools.add_note_to_relationship(
                from_entity_key=keys["Cy"], to_entity_key=ada, content=notes[2]
            ),
            tools.create_relationship(
                from_entity_key=ada, to_entity_key=other, relationship_type="friend"
            ),
            delete(tools, ada),
        )
        succeeded(deleted)
        acknowledged += [
            note for note, answer in zip(notes, answers, strict=True) if answer["success"]
        ]
        related += [other] if made["success"] else []
        assert [
            one for one in await database.relationships() if ada in (one["first"], one["second"])
        ] == []
        succeeded(await tools.restore(entity_key=ada))
        stored = await database.assert_current()
        ends = {one["second"] if one["first"] == ada else one["first"] for one in stored}
        assert set(related) <= ends
        contents = [
            note for one in (*stored, *await database.nodes()) for note in note_contents(one)
        ]
        assert sorted(note for note in contents if note.startswith("note")) == sorted(acknowledged)
