"""Each thing that can be wrong with a record is found, and nothing on a healthy graph."""

import pytest

from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
from kgagent.migration import migrate
from tests.conftest import Clock
from tests.integration.doctor.ward import USER, damage, diagnose, healthy, told, wrong
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import succeeded
from tests.support.stored import cypher

MENDED_BY_MIGRATION = [
    ("MATCH (:<Person>)-[r {description: 'They row'}]->() REMOVE r.relationship_embedding", "have no embedding"),
    (
        "MATCH ()-[r {description: 'They row'}]->() SET r.relationship_embedding = 'gone'",
        "have something in place of the embedding that is no list of numbers",
    ),
    (
        "MATCH ()-[r {description: 'They row'}]->() SET r.relationship_embedding = [1.0, 2.0]",
        "have an embedding of another length",
    ),
    (
        "MATCH ()-[r {description: 'They row'}]->() SET r.embedding_model = 'older'",
        "have an embedding of another or an unknown model",
    ),
    (
        "MATCH ()-[r {description: 'They row'}]->() REMOVE r.embedding_model, r.embedding_hash",
        "have an embedding of another or an unknown model",
    ),
    (
        "MATCH ()-[r {description: 'They row'}]->() SET r.description = 'They sail'",
        "have an embedding of an earlier text",
    ),
    (
        "MATCH ()-[r {description: 'They row'}]->() REMOVE r.description, r.relationship_type, r.attitude, r.proximity",
        "have an embedding but no text",
    ),
    (
        "MATCH ()-[r {description: 'They row'}]->() SET r.notes_embedding = [0.5]",
        "hold embedding fields of an old form",
    ),
    (
        "MATCH ()-[r {description: 'They row'}]->() SET r.told_in_reverse = true",
        "hold told_in_reverse, the old name of is_reversed",
    ),
    (
        "MATCH ()-[r {description: 'They row'}]->() REMOVE r.user_id",
        "have no user_id, so that no search finds them",
    ),
    (
        "MATCH ()-[r {description: 'They row'}]->() SET r.relationship_key = 'another'",
        "have no relationship_key, or not that of their nodes",
    ),
    (
        "MATCH ()-[r {description: 'They row'}]->() SET r.attitude = 'warm'",
        "hold attitude or proximity as text instead of as a number",
    ),
    (
        "MATCH ()-[r {description: 'They sing'}]->() REMOVE r.notes_text",
        "have notes that full-text search does not find, or still finds",
    ),
    (
        "MATCH ()-[r {description: 'They row'}]->() SET r.notes_text = 'what no note says'",
        "have notes that full-text search does not find, or still finds",
    ),
]

MENDED_BY_HAND = [
    (
        "MATCH ()-[r {description: 'They row'}]->() SET r.attitude = 6",
        "have an attitude or proximity that is neither 1 to 5 nor a word of their type",
    ),
    ("MATCH ()-[r {description: 'They row'}]->() SET r.version = 'v2'", "have a version that is no whole number"),
    (
        "MATCH (a:<Person> {name: 'Ada'}), (c:<Topic>) CREATE (a)-[:<knows>]->(c)",
        "join nodes of labels that their type does not join",
    ),
    ("MATCH (a:<Person> {name: 'Ada'}) CREATE (a)-[:<knows>]->(a)", "join a node with itself"),
    (
        "MATCH (a:<Person> {name: 'Ada'}) CREATE (a)-[:<likes>]->(:Stranger)",
        "touch a node with none of the ontology's labels",
    ),
    (
        "MATCH (a:<Person> {name: 'Ada'})-[r:<likes>]->(c) CREATE (c)-[:<likes>]->(a)",
        "are duplicates of another one of their type between their nodes",
    ),
]


async def test_nothing_is_wrong_with_what_the_tools_wrote(own: KnowledgeGraph) -> None:
    await healthy(own)
    diagnosis = await diagnose(own)
    assert wrong(diagnosis) == []
    assert diagnosis.is_healthy
    assert (diagnosis.facts.nodes, diagnosis.facts.relationships) == (4, 3)


async def test_nothing_is_wrong_with_an_empty_graph(own: KnowledgeGraph) -> None:
    assert wrong(await diagnose(own)) == []


@pytest.mark.parametrize(("statement", "phrase"), MENDED_BY_MIGRATION)
async def test_what_the_migration_mends_is_found_and_then_mended(
    own: KnowledgeGraph, statement: str, phrase: str
) -> None:
    await healthy(own)
    await damage(own, statement)
    diagnosis = await diagnose(own)
    assert told(diagnosis) == [f"warning: 1 of 3 relationships {phrase}"]
    [finding] = wrong(diagnosis)
    assert finding.mend == "kgagent migrate"
    assert not diagnosis.is_healthy
    await migrate(
        nodes=services_of(own).nodes,
        relationships=services_of(own).relationships,
        writing=services_of(own).write_context,
    )
    assert wrong(await diagnose(own)) == []


@pytest.mark.parametrize(("statement", "phrase"), MENDED_BY_HAND)
async def test_what_a_person_has_to_mend_is_found(own: KnowledgeGraph, statement: str, phrase: str) -> None:
    await healthy(own)
    try:
        await damage(own, statement)
        diagnosis = await diagnose(own)
        examined = diagnosis.facts.relationships
        assert told(diagnosis) == [f"warning: 1 of {examined} relationships {phrase}"]
    finally:
        await damage(own, "MATCH (:<Person>)-[r]->(s:Stranger) DETACH DELETE s")


async def test_a_relationship_between_two_users_is_an_error(own: KnowledgeGraph) -> None:
    await healthy(own)
    await healthy(own, "another")
    await damage(
        own,
        "MATCH (a:<Person> {name: 'Ada', user_id: 'patient'}), (b:<Person> {name: 'Bo', user_id: 'another'}) "
        "CREATE (a)-[:<knows>]->(b)",
    )
    diagnosis = await diagnose(own)
    assert told(diagnosis) == ["error: 1 of 7 relationships join nodes of different users"]


async def test_a_relationship_of_another_user_than_its_nodes_is_an_error(own: KnowledgeGraph) -> None:
    await healthy(own)
    await damage(own, "MATCH (:<Person>)-[r {description: 'They row'}]->() SET r.user_id = 'another'")
    diagnosis = await diagnose(own)
    assert told(diagnosis) == ["error: 1 of 3 relationships have a user_id that is not that of their nodes"]


@pytest.mark.parametrize(
    ("statement", "phrase"),
    [
        ("MATCH (n:<Person> {name: 'Ada'}) REMOVE n.embedding", "have no embedding"),
        ("MATCH (n:<Person> {name: 'Ada'}) SET n.embedding = [0.5]", "have an embedding of another length"),
        (
            "MATCH (n:<Person> {name: 'Ada'}) SET n.embedding_model = 'older'",
            "have an embedding of another or an unknown model",
        ),
        ("MATCH (n:<Person> {name: 'Ada'}) SET n.description = 'new'", "have an embedding of an earlier text"),
        (
            "CREATE (:<Person> {name: 'Di', user_id: 'patient'})",
            "have no entity_key that is text, so that no tool finds them",
        ),
        (
            "CREATE (:<Person> {name: 'Di', entity_key: 'di', user_id: 7})",
            "have no user_id that is text, so that no search finds them",
        ),
    ],
)
async def test_what_is_wrong_with_nodes_is_found(own: KnowledgeGraph, statement: str, phrase: str) -> None:
    await healthy(own)
    await damage(own, statement)
    diagnosis = await diagnose(own)
    assert told(diagnosis) == [f"warning: 1 of {diagnosis.facts.nodes} nodes {phrase}"]


async def test_nodes_that_share_a_key_are_an_error(own: KnowledgeGraph) -> None:
    await healthy(own)
    await damage(own, "MATCH (n:<Person> {name: 'Ada'}), (m:<Topic>) SET m.entity_key = n.entity_key")
    found = told(await diagnose(own))
    assert "error: 2 of 4 nodes share their entity_key with another node" in found


async def test_an_expired_note_is_told_apart_from_other_stale_embeddings(own: KnowledgeGraph, clock: Clock) -> None:
    await healthy(own)
    tools = own.tools(user_id=USER)
    [ends] = await cypher(
        own,
        "MATCH (a {user_id: 'patient'})-[{description: 'They row'}]->(b) "
        "RETURN a.entity_key AS from_entity_key, b.entity_key AS to_entity_key LIMIT 1",
    )
    succeeded(await tools.add_note_to_relationship(**ends, content="On holiday", lifetime="month"))
    assert (await diagnose(own)).is_healthy
    clock.forward(days=31)
    diagnosis = await diagnose(own)
    phrase = "have an embedding that still holds notes which have expired"
    # The note "In a choir" that came with the relationship was to last a month, too.
    assert told(diagnosis) == [f"warning: 2 of 3 relationships {phrase}"]
    await migrate(
        nodes=services_of(own).nodes,
        relationships=services_of(own).relationships,
        writing=services_of(own).write_context,
    )
    assert (await diagnose(own)).is_healthy


async def test_findings_name_an_example_and_the_users_own_command(own: KnowledgeGraph) -> None:
    await healthy(own, "Ada's")
    await healthy(own, "another")
    await damage(own, "MATCH (:<Person>)-[r {description: 'They row'}]->() REMOVE r.relationship_embedding")
    diagnosis = await diagnose(own, "Ada's")
    [finding] = wrong(diagnosis)
    assert finding.what.startswith("1 of 3 relationships have no embedding, such as knows_")
    assert finding.mend == """kgagent migrate --user 'Ada'"'"'s'"""
    assert (diagnosis.facts.user_id, diagnosis.facts.nodes) == ("Ada's", 4)


async def test_the_worst_comes_first_and_all_of_it_is_plain_data(
    own: KnowledgeGraph, embedder: WatchedEmbedder
) -> None:
    await healthy(own)
    await damage(own, "MATCH (:<Person>)-[r {description: 'They row'}]->() SET r.user_id = 'another'")
    await damage(own, "MATCH (:<Person>)-[r {description: 'They sing'}]->() REMOVE r.relationship_embedding")
    embedder.forget()
    payload = (await diagnose(own)).to_dict()
    assert [finding["severity"] for finding in payload["findings"]][:2] == ["error", "warning"]
    assert payload["is_healthy"] is False
    assert payload["facts"]["embedder"] == str(embedder)
    assert embedder.calls == 0
