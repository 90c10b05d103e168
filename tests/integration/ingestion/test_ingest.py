"""A conversation is read into the graph by a chat model over HTTP, through LangChain's own
client.
"""

import asyncio
import json
from typing import Any

import pytest

from kgagent import KnowledgeGraph, Settings, SyncKnowledgeGraph
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import ConfigurationError, InputError
from kgagent.ingestion import IngestionReport, Ingestor, Limits, Source
from kgagent.knowledge_graph import services_of
from kgagent.tools import Toolset
from tests.conftest import DIMENSIONS, Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.openai_models import TOKENS, deciding_model
from tests.support.own_ontology import own_ontology
from tests.support.people import person, relate
from tests.support.reading import CALL, NODES, NOTE, PlainModel, careful_reader, chat_model
from tests.support.stored import (
    all_of,
    assert_embeddings_are_current,
    nodes_of,
    note_contents,
    relationships_of,
)


async def read(
    graph: KnowledgeGraph, user_id: str, source: Source = CALL, **options: Any
) -> IngestionReport:
    """Read with the careful model."""
    with deciding_model(careful_reader) as model:
        return await Ingestor(graph, chat_model(model), user_id=user_id).ingest(source, **options)


async def test_a_conversation_becomes_nodes_relationships_and_notes(
    graph: KnowledgeGraph, embedder: WatchedEmbedder, clock: Clock, user_id: str
) -> None:
    report = await read(graph, user_id)
    assert report.state == "complete"
    assert [call.step for call in report.calls] == [1, 2, 2, 2, 3, 3, 4, 4]
    assert (report.steps, report.tokens.total, report.tokens.estimated) == (5, 5 * TOKENS, False)
    assert {node["name"] for node in await nodes_of(graph, user_id)} == {*NODES, CALL.name}
    relationships = await assert_embeddings_are_current(graph, user_id, embedder, clock.now)
    assert {relationship["relationship_type"] for relationship in relationships} == {
        "mentor",
        "works at",
    }
    [mentor] = (
        relationship
        for relationship in relationships
        if relationship["relationship_type"] == "mentor"
    )
    assert note_contents(mentor) == [NOTE]


async def test_every_note_names_the_source_whatever_the_model_says(
    graph: KnowledgeGraph, user_id: str
) -> None:
    report = await read(graph, user_id)
    [said] = (call for call in report.calls if call.tool == "add_note_to_relationship")
    assert isinstance(said.arguments, dict)
    assert said.arguments["source_entity_key"] == "of another source"
    notes = [
        note
        for r in await relationships_of(graph, user_id)
        for note in json.loads(r.get("notes") or "[]")
    ]
    assert [note["source_entity_key"] for note in notes] == [report.source_entity_key]
    [source] = (
        node
        for node in await nodes_of(graph, user_id)
        if node["entity_key"] == report.source_entity_key
    )
    assert source["name"] == CALL.name
    assert source["content_hash"] == CALL.fingerprint


async def test_notes_on_new_nodes_and_in_batches_name_the_source_too(
    graph: KnowledgeGraph, user_id: str
) -> None:
    tools = graph.tools(user_id=user_id, source_entity_key="the source")
    first = await person(
        tools, "Ada", notes=["Likes tea", {"content": "Is 30", "source_entity_key": "other"}]
    )
    second = await person(tools, "Bo")
    await relate(tools, first, second, notes=["Met in May"])
    records = [*await nodes_of(graph, user_id), *await relationships_of(graph, user_id)]
    notes = [note for record in records for note in json.loads(record.get("notes") or "[]")]
    assert len(notes) == 3
    assert {note["source_entity_key"] for note in notes} == {"the source"}


async def test_model_is_offered_neither_user_nor_source_nor_deleting_tools(
    graph: KnowledgeGraph, user_id: str
) -> None:
    with deciding_model(careful_reader) as model:
        await Ingestor(graph, chat_model(model), user_id=user_id).ingest(CALL)
    offered = model.requests[0]["tools"]
    assert {tool["function"]["name"] for tool in offered} <= set(graph.tools(user_id=user_id))
    assert not [
        tool
        for tool in offered
        if "delete" in tool["function"]["name"] or "merge" in tool["function"]["name"]
    ]
    assert "user_id" not in json.dumps(offered)
    assert "source_entity_key" not in json.dumps(offered)
    assert user_id not in json.dumps(model.requests[0])


async def test_unchanged_source_makes_no_model_call(
    graph: KnowledgeGraph, embedder: WatchedEmbedder, clock: Clock, user_id: str
) -> None:
    first = await read(graph, user_id)
    before = await all_of(graph, user_id)
    clock.forward(days=40)
    embedder.forget()
    renamed = CALL.model_copy(update={"name": "Another name", "description": "Said otherwise"})
    with deciding_model(careful_reader) as model:
        report = await Ingestor(graph, chat_model(model), user_id=user_id).ingest(renamed)
    assert model.requests == []
    assert embedder.calls == 0
    assert await all_of(graph, user_id) == before
    assert (report.state, report.changes, report.calls) == ("unchanged", (), ())
    assert report.source_entity_key == first.source_entity_key


async def test_forced_run_rereads_without_changing_existing_records(
    graph: KnowledgeGraph, user_id: str
) -> None:
    await read(graph, user_id)
    before = await all_of(graph, user_id)
    report = await read(graph, user_id, force=True)
    assert report.state == "complete"
    assert not report.resumed
    assert {call.tool for call in report.calls} >= {"create_relationship", "update_relationship"}
    assert report.changes == ()
    assert await all_of(graph, user_id) == before


async def test_report_contains_records_before_and_after_the_run(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    ruth, iris = await person(tools, "Ruth"), await person(tools, "Iris")
    await relate(tools, ruth, iris, "teacher", attitude=3, proximity=4, notes=["They met in 2019."])
    report = await read(graph, user_id)
    created = {change.after.name for change in report.nodes if change.before is None}
    assert created == {CALL.name, "Halden Yard"}
    [changed] = (change for change in report.relationships if change.before)
    assert changed.before is not None
    assert (changed.before.relationship_type, changed.before.attitude) == ("teacher", 3)
    assert (changed.after.relationship_type, changed.after.attitude, changed.after.proximity) == (
        "mentor",
        5,
        4,
    )
    assert [note.content for note in changed.before.notes] == ["They met in 2019."]
    assert [note.content for note in changed.after.notes] == ["They met in 2019.", NOTE]
    text = report.to_markdown()
    assert "attitude: 3 → 5" in text
    assert "relationship_type: teacher → mentor" in text
    assert IngestionReport.model_validate_json(report.model_dump_json()) == report


async def test_any_chat_model_with_tools_works(graph: KnowledgeGraph, user_id: str) -> None:
    report = await Ingestor(graph, PlainModel(), user_id=user_id).ingest(CALL)
    assert report.state == "complete"
    assert {node["name"] for node in await nodes_of(graph, user_id)} == {*NODES, CALL.name}
    assert [call.success for call in report.calls] == [True] * 8
    assert report.tokens.estimated
    assert report.tokens.output > 0


async def test_two_users_read_the_same_source_independently(
    graph: KnowledgeGraph, user_id: str
) -> None:
    other = f"{user_id}-other"
    await read(graph, other)
    before = await all_of(graph, other)
    report = await read(graph, user_id)
    assert report.state == "complete"
    assert len(report.nodes) == len(NODES) + 1
    assert await all_of(graph, other) == before
    keys = {node["entity_key"] for node in await nodes_of(graph, user_id)}
    assert not keys & {node["entity_key"] for node in before[0]}


async def test_search_results_do_not_contain_progress(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await read(graph, user_id)
    for payload in (
        await tools.explore(text_matches=[CALL.name]),
        await tools.hybrid_search(query=CALL.name),
    ):
        assert CALL.name in json.dumps(payload)
        assert "ingestion" not in json.dumps(payload)


async def test_ontology_without_dated_label_requires_source_label(
    graph: KnowledgeGraph, settings: Settings, user_id: str
) -> None:
    ontology = own_ontology()
    own = KnowledgeGraph(services_of(graph).store, ontology, graph.embedder, settings)
    with deciding_model(careful_reader) as model:
        with pytest.raises(ConfigurationError, match="Cannot determine the label of sources"):
            Ingestor(own, chat_model(model), user_id=user_id)
        with pytest.raises(InputError, match="Unknown label: Nothing"):
            Ingestor(own, chat_model(model), user_id=user_id, source_label="Nothing")
        Ingestor(own, chat_model(model), user_id=user_id, source_label=next(iter(ontology.labels)))


async def test_empty_user_and_unknown_tools_are_rejected(
    graph: KnowledgeGraph, user_id: str
) -> None:
    with deciding_model(careful_reader) as model:
        with pytest.raises(InputError, match="user_id must not be empty"):
            Ingestor(graph, chat_model(model), user_id="")
        with pytest.raises(ConfigurationError, match="Unknown tool: 'exlpore'"):
            Ingestor(graph, chat_model(model), user_id=user_id, tools=["exlpore"])
        with pytest.raises(ConfigurationError, match="At least one read-only tool is required"):
            Ingestor(graph, chat_model(model), user_id=user_id, tools=["create_node"])


def test_a_synchronous_program_needs_no_event_loop(settings: Settings, user_id: str) -> None:
    with (
        SyncKnowledgeGraph.connect(
            settings=settings, embedder=HashingEmbedder(DIMENSIONS)
        ) as graph,
        deciding_model(careful_reader) as model,
    ):
        ingestor = Ingestor(
            graph, chat_model(model), user_id=user_id, limits=Limits(steps_per_part=9)
        )
        assert ingestor.ingest_sync(CALL).state == "complete"
        assert asyncio.run(ingestor.ingest(CALL)).state == "unchanged"


async def test_ingest_sync_on_the_graphs_own_loop_is_rejected(
    graph: KnowledgeGraph, user_id: str
) -> None:
    with (
        deciding_model(careful_reader) as model,
        pytest.raises(ConfigurationError, match="use await ingest"),
    ):
        Ingestor(graph, chat_model(model), user_id=user_id).ingest_sync(CALL)
