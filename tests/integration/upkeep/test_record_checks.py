"""Every issue that a record can have is found; a healthy graph has none."""

from collections.abc import Iterable

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.integration.upkeep.damaged import USER, damage, healthy, messages, problems
from tests.support.people import node, relate

FIXED_BY_MIGRATION = {
    "REMOVE r.relationship_embedding": "no embedding",
    "SET r.relationship_embedding = "
    "'gone'": "an embedding of another length, or one that is not a list of numbers",
    "REMOVE "
    "r.embedding_hash": "an outdated embedding: the text has changed since, or notes have expired",
    "REMOVE r.description, r.relationship_type, r.notes, r.notes_text": "an embedding but no text",
    "SET r.notes_embedding = [0.5], r.attitude = 'warm'": "properties of an old format",
    "REMOVE r.user_id": "no user_id, without which no search finds a relationship",
    "SET r.relationship_key = "
    "'another'": "no relationship_key, or one that does not match the nodes",
    "SET r.when_earliest = "
    "20200101": "stored days that do not match `when`, by which searches filter",
    "REMOVE r.notes_text": "statements that searches miss, or still find",
}

FIXED_BY_HAND = {
    "SET r.attitude = 6": "an attitude or proximity that is neither 1 to 5 nor a word of the type",
    "SET r.version = 'v2'": "a version that is not an integer",
    "WITH a MATCH (t:<Topic>) CREATE "
    "(a)-[:<knows>]->(t)": "nodes with labels that the type does not allow",
    "CREATE (a)-[:<knows>]->(a)": "the same node at both ends",
    "CREATE "
    "(a)-[:<likes>]->(:Stranger)": "a node without a label of the ontology, entity_key or user_id",
    "CREATE (b)-[:<knows>]->(a)": (
        "another relationship of the same type between the same nodes, which the tools use instead"
    ),
}

OF_NODES = {
    "REMOVE a.embedding": "no embedding",
    "SET a.description = "
    "'new'": "an outdated embedding: the text has changed since, or notes have expired",
    "CREATE (:<Person> {name: 'Di', user_id: 'patient'})": (
        "no entity_key of type string, without which no tool finds a node"
    ),
    "CREATE (:<Person> {name: 'Di', entity_key: 'di', user_id: 7})": (
        "no user_id of type string, without which no search finds a node"
    ),
}


async def damaged(graph: KnowledgeGraph, changes: Iterable[str]) -> None:
    """A healthy graph with a relationship `r` more for each change, from a person `a` to a person
    `b`.
    """
    await healthy(graph)
    tools, person = graph.tools(user_id=USER), next(iter(graph.ontology.labels))
    for position, change in enumerate(changes):
        first, second = [
            await node(tools, person, f"{name} {position}") for name in ("First", "Second")
        ]
        await relate(tools, first, second, description="They row", notes=["In a choir"])
        await damage(
            graph,
            f"MATCH (a:<Person>)-[r:<knows>]->(b) WHERE a.entity_key = $key {change}",
            key=first,
        )


async def test_nothing_is_wrong_with_what_the_tools_wrote(own: KnowledgeGraph) -> None:
    await healthy(own)
    diagnosis = await own.diagnose()
    assert problems(diagnosis) == []
    assert diagnosis.is_healthy
    assert (diagnosis.facts.nodes, diagnosis.facts.relationships) == (4, 3)


async def test_every_issue_that_a_migration_fixes_is_found(own: KnowledgeGraph) -> None:
    await damaged(own, FIXED_BY_MIGRATION)
    diagnosis = await own.diagnose()
    examined = 3 + len(FIXED_BY_MIGRATION)
    expected = {
        f"warning: 1 of {examined} relationships have {phrase}"
        for phrase in FIXED_BY_MIGRATION.values()
    }
    assert {*messages(diagnosis)} == expected
    assert {finding.fix for finding in problems(diagnosis)} == {"kgagent migrate"}
    assert not diagnosis.is_healthy
    await own.migrate()
    assert problems(await own.diagnose()) == []


@pytest.mark.parametrize(
    "damaging",
    ["DELETE e", "SET e.embedding = null", "SET e.embedding_model = 'older'"],
)
async def test_broken_entries_of_passages_and_notes_are_found_and_mended(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, damaging: str
) -> None:
    await graph.add_source("Log", "The zebra sleeps in the boat house.", user_id=user_id)
    ada, bo = [await node(tools, "Person", name) for name in ("Ada", "Bo")]
    await relate(tools, ada, bo, description="They row", notes=["In a choir"])
    diagnosis = await graph.diagnose(user_id=user_id)
    assert problems(diagnosis) == []
    assert diagnosis.facts.passages == 1
    await damage(
        graph,
        "MATCH (e:KgagentStatement) WHERE e.user_id = $user AND (e.text CONTAINS 'zebra' OR "
        f"e.text = 'In a choir') {damaging}",
        user=user_id,
    )
    assert {*messages(await graph.diagnose(user_id=user_id))} == {
        f"warning: 1 of {count} have statements that searches miss, or still find"
        for count in ("3 nodes", "1 relationships")
    }
    planned = await graph.migrate(user_id=user_id, dry_run=True)
    assert (planned.nodes.updated, planned.relationships.updated) == (1, 1)
    await graph.migrate(user_id=user_id)
    assert problems(await graph.diagnose(user_id=user_id)) == []
    found = await graph.search("Where does the zebra sleep?", user_id=user_id)
    assert found.objects[0].name == "Log"
    again = await graph.migrate(user_id=user_id)
    assert again.nodes.written + again.relationships.written == 0


async def test_embeddings_of_another_model_are_an_error_that_the_migration_fixes(
    own: KnowledgeGraph,
) -> None:
    await healthy(own)
    await damage(
        own, "MATCH (:<Person>)-[r {description: 'They row'}]->() SET r.embedding_model = 'older'"
    )
    await damage(
        own, "MATCH (n:<Person>) WHERE n.name IN ['Ada', 'Bo'] SET n.embedding_model = 'older'"
    )
    diagnosis = await own.diagnose(user_id=USER)
    assert messages(diagnosis) == [
        "error: 2 of 4 nodes have an embedding of model 'older', which semantic search omits",
        "error: 1 of 3 relationships have an embedding of model 'older', which semantic search "
        "omits",
    ]
    assert {finding.fix for finding in problems(diagnosis)} == {
        f"kgagent migrate --user {USER} embeds them again with {own.embedder.model!r}; "
        "or set KGAGENT_EMBEDDER and the model that made them"
    }
    assert not diagnosis.is_healthy
    await own.migrate()
    assert problems(await own.diagnose()) == []


async def test_every_issue_that_a_person_must_fix_is_found(own: KnowledgeGraph) -> None:
    try:
        await damaged(own, FIXED_BY_HAND)
        diagnosis = await own.diagnose()
        examined = diagnosis.facts.relationships
        expected = {
            f"warning: 1 of {examined} relationships have {phrase}"
            for phrase in FIXED_BY_HAND.values()
        }
        assert {*messages(diagnosis)} == expected
    finally:
        await damage(own, "MATCH (:<Person>)-[r]->(s:Stranger) DETACH DELETE s")


async def test_a_relationship_between_two_users_is_an_error(own: KnowledgeGraph) -> None:
    await healthy(own)
    await healthy(own, "another")
    await damage(
        own,
        "MATCH (a:<Person> {name: 'Ada', user_id: 'patient'}), (b:<Person> {name: 'Bo', user_id: "
        "'another'}) "
        "CREATE (a)-[:<knows>]->(b)",
    )
    diagnosis = await own.diagnose()
    assert messages(diagnosis) == ["error: 1 of 7 relationships have nodes of different users"]


async def test_a_relationship_of_another_user_than_its_nodes_is_an_error(
    own: KnowledgeGraph,
) -> None:
    await healthy(own)
    await damage(
        own, "MATCH (:<Person>)-[r {description: 'They row'}]->() SET r.user_id = 'another'"
    )
    await damage(
        own, "MATCH (:<Person>)-[r {description: 'They sing'}]->() REMOVE r.relationship_embedding"
    )
    diagnosis = await own.diagnose()
    assert messages(diagnosis) == [
        "error: 1 of 3 relationships have a user_id that differs from that of the nodes",
        "warning: 1 of 3 relationships have no embedding",
    ]
    payload = diagnosis.to_dict()
    assert (payload["findings"][0]["severity"], payload["is_healthy"]) == ("error", False)
    assert payload["facts"]["embedder"] == str(own.embedder)


async def test_every_issue_of_a_node_is_found(own: KnowledgeGraph) -> None:
    await damaged(own, OF_NODES)
    diagnosis = await own.diagnose()
    expected = {
        f"warning: 1 of {diagnosis.facts.nodes} nodes have {phrase}" for phrase in OF_NODES.values()
    }
    assert {*messages(diagnosis)} == expected


async def test_nodes_that_share_a_key_are_an_error(own: KnowledgeGraph) -> None:
    await healthy(own)
    await damage(
        own, "MATCH (n:<Person> {name: 'Ada'}), (m:<Topic>) SET m.entity_key = n.entity_key"
    )
    found = messages(await own.diagnose())
    assert "error: 2 of 4 nodes have an entity_key that another node of the user has too" in found


async def test_findings_name_an_example_and_the_users_own_command(own: KnowledgeGraph) -> None:
    await healthy(own, "Ada's")
    await healthy(own, "another")
    await damage(
        own, "MATCH (:<Person>)-[r {description: 'They row'}]->() REMOVE r.relationship_embedding"
    )
    diagnosis = await own.diagnose(user_id="Ada's")
    [finding] = problems(diagnosis)
    assert finding.message.startswith("1 of 3 relationships have no embedding, such as knows_")
    assert finding.fix == """kgagent migrate --user 'Ada'"'"'s'"""
    assert (diagnosis.facts.user_id, diagnosis.facts.nodes) == ("Ada's", 4)
