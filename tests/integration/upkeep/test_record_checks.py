"""Every issue that a record can have is found; a healthy graph has none."""

from collections.abc import Iterable

from kgagent import KnowledgeGraph
from tests.conftest import Clock
from tests.integration.upkeep.damaged import USER, damage, healthy, messages, problems
from tests.support.embedders import WatchedEmbedder
from tests.support.own_ontology import names
from tests.support.payloads import succeeded
from tests.support.people import node, relate
from tests.support.stored import cypher

FIXED_BY_MIGRATION = {
    "REMOVE r.relationship_embedding": "no embedding",
    "SET r.relationship_embedding = 'gone'": "an embedding that is not a list of numbers",
    "SET r.relationship_embedding = [1.0, 2.0]": "an embedding of another length",
    "REMOVE r.embedding_model, r.embedding_hash": "an embedding of an unknown model",
    "SET r.description = 'They sail'": "an embedding of an earlier text",
    "REMOVE r.description, r.relationship_type, r.notes, r.notes_text": "an embedding but no text",
    "SET r.notes_embedding = [0.5]": "embedding properties of an old format",
    "SET r.told_in_reverse = true": "told_in_reverse, the old name of is_reversed",
    "REMOVE r.user_id": "no user_id, without which no search finds a relationship",
    "SET r.relationship_key = 'another'": "no relationship_key, or one that does not match the nodes",
    "SET r.attitude = 'warm'": "attitude or proximity stored as text instead of a number",
    "REMOVE r.notes_text": "notes that full-text search misses, or still finds",
}

FIXED_BY_HAND = {
    "SET r.attitude = 6": "an attitude or proximity that is neither 1 to 5 nor a word of the type",
    "SET r.version = 'v2'": "a version that is not an integer",
    "WITH a MATCH (t:<Topic>) CREATE (a)-[:<knows>]->(t)": "nodes with labels that the type does not allow",
    "CREATE (a)-[:<knows>]->(a)": "the same node at both ends",
    "CREATE (a)-[:<likes>]->(:Stranger)": "a node without a label of the ontology",
    "CREATE (b)-[:<knows>]->(a)": (
        "another relationship of the same type between the same nodes, which the tools use instead"
    ),
}

OF_NODES = {
    "REMOVE a.embedding": "no embedding",
    "SET a.embedding = [0.5]": "an embedding of another length",
    "REMOVE a.embedding_model, a.embedding_hash": "an embedding of an unknown model",
    "SET a.description = 'new'": "an embedding of an earlier text",
    "CREATE (:<Person> {name: 'Di', user_id: 'patient'})": (
        "no entity_key of type string, without which no tool finds a node"
    ),
    "CREATE (:<Person> {name: 'Di', entity_key: 'di', user_id: 7})": (
        "no user_id of type string, without which no search finds a node"
    ),
}


async def damaged(graph: KnowledgeGraph, changes: Iterable[str]) -> None:
    """A healthy graph with a relationship `r` more for each change, from a person `a` to a person `b`."""
    await healthy(graph)
    tools, person = graph.tools(user_id=USER), next(iter(graph.ontology.labels))
    for position, change in enumerate(changes):
        first, second = [await node(tools, person, f"{name} {position}") for name in ("First", "Second")]
        await relate(tools, first, second, description="They row", notes=["In a choir"])
        await damage(graph, f"MATCH (a:<Person>)-[r:<knows>]->(b) WHERE a.entity_key = $key {change}", key=first)


async def test_nothing_is_wrong_with_what_the_tools_wrote(own: KnowledgeGraph) -> None:
    await healthy(own)
    diagnosis = await own.diagnose()
    assert problems(diagnosis) == []
    assert diagnosis.is_healthy
    assert (diagnosis.facts.nodes, diagnosis.facts.relationships) == (4, 3)


async def test_nothing_is_wrong_with_an_empty_graph(own: KnowledgeGraph) -> None:
    assert problems(await own.diagnose()) == []


async def test_every_issue_that_a_migration_fixes_is_found(own: KnowledgeGraph) -> None:
    await damaged(own, FIXED_BY_MIGRATION)
    diagnosis = await own.diagnose()
    examined = 3 + len(FIXED_BY_MIGRATION)
    expected = {f"warning: 1 of {examined} relationships have {phrase}" for phrase in FIXED_BY_MIGRATION.values()}
    assert {*messages(diagnosis)} == expected
    assert {finding.fix for finding in problems(diagnosis)} == {"kgagent migrate"}
    assert not diagnosis.is_healthy
    await own.migrate()
    assert problems(await own.diagnose()) == []


async def test_embeddings_of_another_model_are_an_error_that_the_migration_fixes(own: KnowledgeGraph) -> None:
    await healthy(own)
    await damage(own, "MATCH (:<Person>)-[r {description: 'They row'}]->() SET r.embedding_model = 'older'")
    await damage(own, "MATCH (n:<Person>) WHERE n.name IN ['Ada', 'Bo'] SET n.embedding_model = 'older'")
    diagnosis = await own.diagnose(user_id=USER)
    assert messages(diagnosis) == [
        "error: 2 of 4 nodes have an embedding of model 'older', which semantic search omits",
        "error: 1 of 3 relationships have an embedding of model 'older', which semantic search omits",
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
        expected = {f"warning: 1 of {examined} relationships have {phrase}" for phrase in FIXED_BY_HAND.values()}
        assert {*messages(diagnosis)} == expected
    finally:
        await damage(own, "MATCH (:<Person>)-[r]->(s:Stranger) DETACH DELETE s")


async def test_sources_of_notes_that_the_user_does_not_have_are_reported_and_are_no_problem(
    own: KnowledgeGraph,
) -> None:
    await healthy(own)
    await healthy(own, "another")
    tools = own.tools(user_id=USER)
    [topic], [foreign] = [
        [
            one["key"]
            for one in await cypher(
                own,
                f"MATCH (n:{names(own.ontology)['Topic']} {{user_id: $user}}) RETURN n.entity_key AS key",
                user=user,
            )
        ]
        for user in (USER, "another")
    ]
    notes = [{"content": f"from {key}", "source_entity_key": key} for key in (topic, foreign, "a-talk")]
    succeeded(await tools.update_node(entity_key=topic, notes=notes))
    diagnosis = await own.diagnose(user_id=USER)
    assert problems(diagnosis) == []
    [found] = [finding.message for finding in diagnosis.findings if "source" in finding.message]
    assert found.startswith("Notes name 2 sources that their user does not have, such as ")
    assert repr(topic) not in found.partition(" in ")[0]


async def test_a_relationship_between_two_users_is_an_error(own: KnowledgeGraph) -> None:
    await healthy(own)
    await healthy(own, "another")
    await damage(
        own,
        "MATCH (a:<Person> {name: 'Ada', user_id: 'patient'}), (b:<Person> {name: 'Bo', user_id: 'another'}) "
        "CREATE (a)-[:<knows>]->(b)",
    )
    diagnosis = await own.diagnose()
    assert messages(diagnosis) == ["error: 1 of 7 relationships have nodes of different users"]


async def test_a_relationship_of_another_user_than_its_nodes_is_an_error(own: KnowledgeGraph) -> None:
    await healthy(own)
    await damage(own, "MATCH (:<Person>)-[r {description: 'They row'}]->() SET r.user_id = 'another'")
    diagnosis = await own.diagnose()
    assert messages(diagnosis) == ["error: 1 of 3 relationships have a user_id that differs from that of the nodes"]


async def test_every_issue_of_a_node_is_found(own: KnowledgeGraph) -> None:
    await damaged(own, OF_NODES)
    diagnosis = await own.diagnose()
    expected = {f"warning: 1 of {diagnosis.facts.nodes} nodes have {phrase}" for phrase in OF_NODES.values()}
    assert {*messages(diagnosis)} == expected


async def test_nodes_that_share_a_key_are_an_error(own: KnowledgeGraph) -> None:
    await healthy(own)
    await damage(own, "MATCH (n:<Person> {name: 'Ada'}), (m:<Topic>) SET m.entity_key = n.entity_key")
    found = messages(await own.diagnose())
    assert "error: 2 of 4 nodes have an entity_key that another node of the user has too" in found


async def test_nodes_of_two_users_may_share_a_key(own: KnowledgeGraph) -> None:
    await healthy(own)
    await healthy(own, "visitor")
    await damage(
        own,
        "MATCH (n:<Topic> {user_id: 'patient'}), (m:<Topic> {user_id: 'visitor'})<-[r]-(a) "
        "SET m.entity_key = n.entity_key, r.relationship_key = "
        "  type(r) + ':' + size(n.entity_key) + ':' + CASE WHEN a.entity_key < n.entity_key "
        "    THEN a.entity_key + ':' + n.entity_key ELSE n.entity_key + ':' + a.entity_key END",
    )
    assert (await own.diagnose()).is_healthy


async def test_an_expired_note_is_distinguished_from_other_stale_embeddings(own: KnowledgeGraph, clock: Clock) -> None:
    await healthy(own)
    tools = own.tools(user_id=USER)
    [ends] = await cypher(
        own,
        f"MATCH (a:{names(own.ontology)['Person']} {{user_id: 'patient'}})-[{{description: 'They row'}}]->(b) "
        "RETURN a.entity_key AS from_entity_key, b.entity_key AS to_entity_key LIMIT 1",
    )
    succeeded(await tools.add_note_to_relationship(**ends, content="On holiday", lifetime="month"))
    assert (await own.diagnose()).is_healthy
    clock.forward(days=31)
    diagnosis = await own.diagnose()
    phrase = "have an embedding that still includes expired notes"
    # The note "In a choir" that came with the relationship was to last a month, too.
    assert messages(diagnosis) == [f"warning: 2 of 3 relationships {phrase}"]
    await own.migrate()
    assert (await own.diagnose()).is_healthy


async def test_findings_name_an_example_and_the_users_own_command(own: KnowledgeGraph) -> None:
    await healthy(own, "Ada's")
    await healthy(own, "another")
    await damage(own, "MATCH (:<Person>)-[r {description: 'They row'}]->() REMOVE r.relationship_embedding")
    diagnosis = await own.diagnose(user_id="Ada's")
    [finding] = problems(diagnosis)
    assert finding.message.startswith("1 of 3 relationships have no embedding, such as knows_")
    assert finding.fix == """kgagent migrate --user 'Ada'"'"'s'"""
    assert (diagnosis.facts.user_id, diagnosis.facts.nodes) == ("Ada's", 4)


async def test_the_worst_comes_first_and_the_dict_is_plain_data(own: KnowledgeGraph, embedder: WatchedEmbedder) -> None:
    await healthy(own)
    await damage(own, "MATCH (:<Person>)-[r {description: 'They row'}]->() SET r.user_id = 'another'")
    await damage(own, "MATCH (:<Person>)-[r {description: 'They sing'}]->() REMOVE r.relationship_embedding")
    embedder.forget()
    payload = (await own.diagnose()).to_dict()
    assert [finding["severity"] for finding in payload["findings"]][:2] == ["error", "warning"]
    assert payload["is_healthy"] is False
    assert payload["facts"]["embedder"] == str(embedder)
    assert embedder.calls == 0
