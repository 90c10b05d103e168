"""What is forgotten is gone: from searches, indexes, exports, caches, and from every property of
every record.
"""

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from kgagent import EmbeddingUnavailableError, KnowledgeGraph
from kgagent.upkeep.forget import ForgetReport
from tests.conftest import Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import succeeded
from tests.support.people import node, person, relate, two_friends
from tests.support.stored import (
    all_of,
    assert_embeddings_are_current,
    cypher,
    nodes_of,
    note_contents,
)

pytestmark = pytest.mark.neo4j_5

PEOPLE = 160


@pytest.fixture
def canary() -> str:
    """A word that nothing else has; each canary is this word and a number."""
    return f"canary{uuid.uuid4().hex}"


class Cage:
    """Numbers canaries."""

    def __init__(self, canary: str) -> None:
        self.canary = canary
        self.count = 0

    def __call__(self) -> str:
        self.count += 1
        return f"{self.canary}n{self.count}"


def write_lines(path: Path, cage: Cage) -> None:
    """People and relationships with canaries in every field that a file has."""
    lines: list[dict[str, Any]] = []
    for number in range(PEOPLE):
        fields = {
            "name": cage(),
            "description": cage(),
            "notes": [cage()],
            "properties": {"job": cage()},
        }
        lines.append({"kind": "node", "label": "Person", "id": f"p{number}", **fields})
        if number:
            fields = {"relationship_type": cage(), "description": cage(), "notes": [cage()]}
            lines.append({"kind": "relationship", "from": "p0", "to": f"p{number}", **fields})
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")


async def holders(graph: KnowledgeGraph, word: str) -> int:
    """Number of records of the whole store that have a word in a property, whatever their
    labels.
    """
    # Embeddings, which are slow to read, have no words.
    has_it = "any(name IN keys(x) WHERE NOT name ENDS WITH 'embedding' AND toStringOrNull(x[name]) CONTAINS $word)"
    nodes = await cypher(graph, f"MATCH (x) WHERE {has_it} RETURN count(x) AS found", word=word)
    relationships = await cypher(
        graph, f"MATCH ()-[x]->() WHERE {has_it} RETURN count(x) AS found", word=word
    )
    return int(nodes[0]["found"]) + int(relationships[0]["found"])


async def indexed(graph: KnowledgeGraph, word: str) -> int:
    """Number of records that the full-text indexes find."""
    rows = await cypher(
        graph,
        "CALL () { CALL db.index.fulltext.queryNodes('kgagent_node_text', $word) YIELD node RETURN "
        "1 AS one "
        "UNION ALL CALL db.index.fulltext.queryRelationships('kgagent_relationship_text', $word) "
        "YIELD relationship "
        "RETURN 1 AS one } RETURN count(*) AS found",
        word=f"{word}*",
    )
    return int(rows[0]["found"])


async def test_of_a_forgotten_user_no_canary_is_left(
    graph: KnowledgeGraph, embedder: WatchedEmbedder, user_id: str, canary: str, tmp_path: Path
) -> None:
    cage, file = Cage(canary), tmp_path / "canaries.jsonl"
    write_lines(file, cage)
    await graph.load(file, user_id=user_id)
    tools = graph.tools(user_id=user_id)
    gone = await person(tools, cage(), cage(), notes=[cage()])
    await relate(
        tools, gone, await person(tools, cage()), cage(), description=cage(), notes=[cage()]
    )
    succeeded(await tools.delete_node(entity_key=gone, delete_relationships=True))
    ends = {"from_entity_key": f"{cage.canary}n1", "to_entity_key": f"{cage.canary}n5"}
    succeeded(await tools.delete_relationship(**ends))
    await node(tools, "Source", cage(), cage())
    await cypher(
        graph,
        "MATCH (s:Source {user_id: $user}) SET s.ingestion_progress = $values[0], "
        "s.content_hash = $values[1]",
        user=user_id,
        values=[cage() for _ in range(2)],
    )
    question = cage()
    await graph.search(question, user_id=user_id)
    assert canary in str(await graph.live_schema(user_id=user_id))
    assert cage.count >= 1_000
    assert await holders(graph, canary) > 300
    assert await indexed(graph, canary) > 300
    counted = await graph.forget(user_id=user_id, dry_run=True)
    assert (counted.nodes, counted.relationships, counted.deleted) == (162, 158, 3)
    assert (counted.other_nodes, counted.dry_run) == (0, True)
    assert str(counted) == "162 nodes, 158 relationships and 3 deleted records would be forgotten"
    assert len(await nodes_of(graph, user_id)) == 162

    report = await graph.forget(user_id=user_id, batch_size=50)
    assert report == counted.model_copy(update={"dry_run": False})
    assert await holders(graph, canary) == 0
    assert await indexed(graph, canary) == 0
    embedder.forget()
    found = await graph.search(question, user_id=user_id)
    assert embedder.queries == [[question]]
    assert [*found.objects, *(found.relationships or ())] == []
    assert canary not in str(await graph.live_schema(user_id=user_id))
    await graph.export(file, user_id=user_id)
    assert canary not in file.read_text("utf-8")
    assert await graph.forget(user_id=user_id) == ForgetReport()


async def test_other_users_keep_what_they_have(graph: KnowledgeGraph, user_id: str) -> None:
    other = f"{user_id}-other"
    for user in (user_id, other):
        tools = graph.tools(user_id=user)
        ends = await two_friends(tools)
        await relate(tools, ends["from_entity_key"], await node(tools, "Concept", "Chess"))
        succeeded(await tools.delete_node(entity_key=await person(tools, "Gone")))
    before = await all_of(graph, other)
    await cypher(
        graph,
        "MATCH (a:Person {user_id: $other, name: 'Ada'}), (b:Person {user_id: $other, name: 'Bo'}) "
        "CREATE (a)-[:has_relationship_with {user_id: $user, description: 'of the user'}]->(b)",
        user=user_id,
        other=other,
    )
    counted = await graph.forget(user_id=user_id, dry_run=True)
    report = await graph.forget(user_id=user_id)
    assert (report.nodes, report.relationships, report.deleted) == (3, 3, 1)
    assert report == counted.model_copy(update={"dry_run": False})
    assert await all_of(graph, other) == before
    succeeded(await graph.tools(user_id=other).restore(entity_key="Gone"))


async def test_nodes_of_other_programs_are_counted_and_stay(
    graph: KnowledgeGraph, user_id: str
) -> None:
    await cypher(graph, "CREATE (:SomethingElse {user_id: $user})", user=user_id)
    report = await graph.forget(user_id=user_id)
    assert str(report) == (
        "0 nodes, 0 relationships and 0 deleted records forgotten; 1 node of other programs stay"
    )
    [row] = await cypher(
        graph,
        "MATCH (n:SomethingElse {user_id: $user}) DELETE n RETURN count(n) AS n",
        user=user_id,
    )
    assert row["n"] == 1


async def test_a_forgotten_node_takes_its_relationships_and_all_that_is_kept_of_it(
    graph: KnowledgeGraph, user_id: str, canary: str
) -> None:
    tools = graph.tools(user_id=user_id)
    ruth, ines = await person(tools, canary, canary, notes=[canary]), await person(tools, "Ines")
    for number in range(5):
        await relate(tools, ruth, await person(tools, f"P{number}"), canary, notes=[canary])
    await relate(tools, ruth, ines, canary)
    succeeded(await tools.delete_relationship(from_entity_key=ruth, to_entity_key=ines))
    succeeded(await tools.delete_node(entity_key=ruth, delete_relationships=True))
    succeeded(await tools.restore(entity_key=ruth))
    await cypher(
        graph,
        "MATCH (n:Person {user_id: $user, entity_key: $key})-[r]-({name: 'P4'}) DELETE r "
        "CREATE (m:KgagentDeletedNode) SET m = properties(n)",
        user=user_id,
        key=ruth,
    )
    counted = await graph.forget(user_id=user_id, entity_key=ruth, dry_run=True)
    report = await graph.forget(user_id=user_id, entity_key=ruth, batch_size=2)
    assert (report.nodes, report.relationships, report.deleted) == (1, 4, 2)
    assert report == counted.model_copy(update={"dry_run": False})
    assert await holders(graph, canary) == 0
    assert len(await nodes_of(graph, user_id)) == 6


async def test_with_a_node_what_was_merged_into_it_is_forgotten(
    graph: KnowledgeGraph, user_id: str, canary: str
) -> None:
    tools = graph.tools(user_id=user_id)
    ruth, double, cal = [
        await person(tools, name, notes=[name]) for name in ("Ruth", canary, "Cal")
    ]
    await relate(tools, double, cal, description=canary)
    succeeded(await tools.merge_nodes(keep_entity_key=ruth, drop_entity_key=double))
    counted = await graph.forget(user_id=user_id, entity_key=ruth, dry_run=True)
    report = await graph.forget(user_id=user_id, entity_key=ruth)
    assert report == counted.model_copy(update={"dry_run": False})
    assert await holders(graph, canary) == 0
    assert [one["name"] for one in await nodes_of(graph, user_id)] == ["Cal"]


async def plant_source(graph: KnowledgeGraph, user_id: str, canary: str) -> str:
    """A source whose notes are on nodes, relationships, and deleted ones."""
    tools = graph.tools(user_id=user_id)
    source = await node(tools, "Source", canary, canary)
    other = await node(tools, "Source", "Another", "Another")
    notes = [
        {"content": canary, "source_entity_key": source},
        {"content": "Stays", "source_entity_key": other},
    ]
    ruth, ines, cal = [await person(tools, name, notes=notes) for name in ("Ruth", "Ines", "Cal")]
    await relate(tools, ruth, ines, notes=notes)
    await relate(tools, ruth, cal, notes=notes)
    await relate(tools, ines, cal, notes=[notes[0]])
    succeeded(await tools.delete_relationship(from_entity_key=ruth, to_entity_key=cal))
    succeeded(await tools.delete_node(entity_key=cal, delete_relationships=True))
    double = await person(tools, "Ruth C.", notes=[notes[1]])
    succeeded(await tools.merge_nodes(keep_entity_key=ruth, drop_entity_key=double))
    return source


async def test_of_a_forgotten_source_no_note_is_left_and_every_embedding_is_current(
    graph: KnowledgeGraph, embedder: WatchedEmbedder, user_id: str, canary: str, clock: Clock
) -> None:
    source = await plant_source(graph, user_id, canary)
    counted = await graph.forget(user_id=user_id, entity_key=source, dry_run=True)
    clock.forward(days=1)
    report = await graph.forget(user_id=user_id, entity_key=source)
    assert report == counted.model_copy(update={"dry_run": False})
    assert (report.nodes, report.notes) == (1, 7)
    assert (
        str(report)
        == "1 node, 0 relationships, 0 deleted records and 7 notes of other records forgotten"
    )
    assert await holders(graph, canary) == 0
    assert await indexed(graph, canary) == 0
    assert await holders(graph, source) == 0
    await assert_embeddings_are_current(graph, user_id, embedder, clock.now)
    tools = graph.tools(user_id=user_id)
    assert succeeded(await tools.restore(entity_key="Cal"))["relationships_restored"] == 1
    succeeded(await tools.restore(from_entity_key="Ruth", to_entity_key="Cal"))
    stored = await assert_embeddings_are_current(graph, user_id, embedder, clock.now)
    assert sorted(note_contents(relationship) for relationship in stored) == [
        [],
        ["Stays"],
        ["Stays"],
    ]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("create_node", '{"label": "Person", "name": "Cy", "notes": [%s]}'),
        ("update_node", '{"entity_key": "Ada", "notes": [%s]}'),
        (
            "create_relationship",
            '{"from": "Ada", "to": "Di", "relationship_type": "aunt", "notes": [%s]}',
        ),
        ("update_relationship", '{"from": "Ada", "to": "Bo", "notes": [%s]}'),
        ("add_note_to_relationship", '{"from": "Ada", "to": "Bo", "notes": [%s]}'),
        ("remember", '{"nodes": [{"name": "Ada", "notes": [%s]}]}'),
        ("remember", '{"relationships": [{"from": "Ada", "to": "Bo", "notes": [%s]}]}'),
    ],
)
async def test_with_the_name_of_a_source_what_each_tool_wrote_from_it_is_forgotten(
    graph: KnowledgeGraph, user_id: str, canary: str, tool: str, given: str
) -> None:
    tools = graph.tools(user_id=user_id)
    await two_friends(tools)
    await person(tools, "Di")
    name = f"2024-05-01 {canary}"
    note = f'{{"content": "Rows.", "source_entity_key": "{name}"}}'
    answer = await tools[tool].call_text(json.loads(given % note))
    assert f"New: {name} (Source, " in answer.text
    succeeded(await tools.remember(notes=[{"on": "Bo", "content": "Sails."}], source=name))
    await cypher(
        graph,
        "MATCH (n:Person {name: 'Di', user_id: $user_id}) SET n.notes = $notes",
        user_id=user_id,
        notes=json.dumps([{"content": "Older.", "source_entity_key": name}]),
    )
    report = await graph.forget(user_id=user_id, entity_key=name)
    assert (report.nodes, report.notes) == (1, 3)
    assert await holders(graph, canary) == 0


async def test_a_node_is_forgotten_by_its_name_or_the_beginning_of_its_key(
    graph: KnowledgeGraph, user_id: str
) -> None:
    tools = graph.tools(user_id=user_id)
    ada, bo = await person(tools, "Ada"), await person(tools, "Bo")
    report = await graph.forget(user_id=user_id, entity_key="ada")
    assert (report.nodes, report.entity_key) == (1, ada)
    report = await graph.forget(user_id=user_id, entity_key=bo[:12])
    assert (report.nodes, report.entity_key) == (1, bo)


async def test_forgetting_a_source_continues_when_the_embedder_is_back(
    graph: KnowledgeGraph, embedder: WatchedEmbedder, user_id: str, canary: str
) -> None:
    source = await plant_source(graph, user_id, canary)
    embedder.failure = EmbeddingUnavailableError("the model sleeps")
    with pytest.raises(EmbeddingUnavailableError, match="the model sleeps"):
        await graph.forget(user_id=user_id, entity_key=source)
    embedder.failure = None
    await graph.forget(user_id=user_id, entity_key=source)
    assert await holders(graph, canary) == 0
