"""Every issue that a record can have is found; a healthy graph has none."""

import pytest

from kgagent import KnowledgeGraph
from tests.conftest import Clock
from tests.integration.upkeep.damaged import USER, damage, healthy, messages, problems
from tests.support.embedders import WatchedEmbedder
from tests.support.own_ontology import names
from tests.support.payloads import succeeded
from tests.support.stored import cypher

FIXED_BY_MIGRATION = [
    ("MATCH (:<Person>)-[r {description: 'They row'}]->() REMOVE r.relationship_embedding", "have no embedding"),
    (
        "MATCH (:<Person>)-[r {description: 'They row'}]->() SET r.relationship_embedding = 'gone'",
        "have an embedding that is not a list of numbers",
    ),
    (
        "MATCH (:<Person>)-[r {description: 'They row'}]->() SET r.relationship_embedding = [1.0, 2.0]",
        "have an embedding of another length",
    ),
    (
        "MATCH (:<Person>)-[r {description: 'They row'}]->() REMOVE r.embedding_model, r.embedding_hash",
        "have an embedding of an unknown model",
    ),
    (
        "MATCH (:<Person>)-[r {description: 'They row'}]->() SET r.description = 'They sail'",
        "have an embedding of an earlier text",
    ),
    (
        "MATCH (:<Person>)-[r {description: 'They row'}]->() "
        "REMOVE r.description, r.relationship_type, r.attitude, r.proximity",
        "have an embedding but no text",
    ),
    (
        "MATCH (:<Person>)-[r {description: 'They row'}]->() SET r.notes_embedding = [0.5]",
        "have embedding properties of an old format",
    ),
    (
        "MATCH (:<Person>)-[r {description: 'They row'}]->() SET r.told_in_reverse = true",
        "have told_in_reverse, the old name of is_reversed",
    ),
    (
        "MATCH (:<Person>)-[r {description: 'They row'}]->() REMOVE r.user_id",
        "have no user_id, without which no search finds a relationship",
    ),
    (
        "MATCH (:<Person>)-[r {description: 'They row'}]->() SET r.relationship_key = 'another'",
        "have no relationship_key, or one that does not match the nodes",
    ),
    (
        "MATCH (:<Person>)-[r {description: 'They row'}]->() SET r.attitude = 'warm'",
        "have attitude or proximity stored as text instead of a number",
    ),
    (
        "MATCH (:<Person>)-[r {description: 'They sing'}]->() REMOVE r.notes_text",
        "have notes that full-text search misses, or still finds",
    ),
    (
        "MATCH (:<Person>)-[r {description: 'They row'}]->() SET r.notes_text = 'what no note says'",
        "have notes that full-text search misses, or still finds",
    ),
]

FIXED_BY_HAND = [
    (
        "MATCH (:<Person>)-[r {description: 'They row'}]->() SET r.attitude = 6",
        "have an attitude or proximity that is neither 1 to 5 nor a word of the type",
    ),
    (
        "MATCH (:<Person>)-[r {description: 'They row'}]->() SET r.version = 'v2'",
        "have a version that is not an integer",
    ),
    (
        "MATCH (a:<Person> {name: 'Ada'}), (c:<Topic>) CREATE (a)-[:<knows>]->(c)",
        "have nodes with labels that the type does not allow",
    ),
    ("MATCH (a:<Person> {name: 'Ada'}) CREATE (a)-[:<knows>]->(a)", "have the same node at both ends"),
    (
        "MATCH (a:<Person> {name: 'Ada'}) CREATE (a)-[:<likes>]->(:Stranger)",
        "have a node without a label of the ontology",
    ),
    (
        "MATCH (a:<Person> {name: 'Ada'})-[r:<likes>]->(c) CREATE (c)-[:<likes>]->(a)",
        "have another relationship of the same type between the same nodes, which the tools use instead",
    ),
]


async def test_nothing_is_wrong_with_what_the_tools_wrote(own: KnowledgeGraph) -> None:
    await healthy(own)
    diagnosis = await own.diagnose()
    assert problems(diagnosis) == []
    assert diagnosis.is_healthy
    assert (diagnosis.facts.nodes, diagnosis.facts.relationships) == (4, 3)


async def test_nothing_is_wrong_with_an_empty_graph(own: KnowledgeGraph) -> None:
    assert problems(await own.diagnose()) == []


@pytest.mark.parametrize(("statement", "phrase"), FIXED_BY_MIGRATION)
async def test_an_issue_is_found_and_the_migration_fixes_it(own: KnowledgeGraph, statement: str, phrase: str) -> None:
    await healthy(own)
    await damage(own, statement)
    diagnosis = await own.diagnose()
    assert messages(diagnosis) == [f"warning: 1 of 3 relationships {phrase}"]
    [finding] = problems(diagnosis)
    assert finding.fix == "kgagent migrate"
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


@pytest.mark.parametrize(("statement", "phrase"), FIXED_BY_HAND)
async def test_an_issue_that_a_person_must_fix_is_found(own: KnowledgeGraph, statement: str, phrase: str) -> None:
    await healthy(own)
    try:
        await damage(own, statement)
        diagnosis = await own.diagnose()
        examined = diagnosis.facts.relationships
        assert messages(diagnosis) == [f"warning: 1 of {examined} relationships {phrase}"]
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


@pytest.mark.parametrize(
    ("statement", "phrase"),
    [
        ("MATCH (n:<Person> {name: 'Ada'}) REMOVE n.embedding", "have no embedding"),
        ("MATCH (n:<Person> {name: 'Ada'}) SET n.embedding = [0.5]", "have an embedding of another length"),
        (
            "MATCH (n:<Person> {name: 'Ada'}) REMOVE n.embedding_model, n.embedding_hash",
            "have an embedding of an unknown model",
        ),
        ("MATCH (n:<Person> {name: 'Ada'}) SET n.description = 'new'", "have an embedding of an earlier text"),
        (
            "CREATE (:<Person> {name: 'Di', user_id: 'patient'})",
            "have no entity_key of type string, without which no tool finds a node",
        ),
        (
            "CREATE (:<Person> {name: 'Di', entity_key: 'di', user_id: 7})",
            "have no user_id of type string, without which no search finds a node",
        ),
    ],
)
async def test_an_issue_of_a_node_is_found(own: KnowledgeGraph, statement: str, phrase: str) -> None:
    await healthy(own)
    await damage(own, statement)
    diagnosis = await own.diagnose()
    assert messages(diagnosis) == [f"warning: 1 of {diagnosis.facts.nodes} nodes {phrase}"]


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
