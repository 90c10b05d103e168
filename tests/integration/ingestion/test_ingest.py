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


async def test_a_conversation_becomes_nodes_relationships_and_notes_in_one_write(
    graph: KnowledgeGraph, embedder: WatchedEmbedder, clock: Clock, user_id: str
) -> None:
    report = await read(graph, user_id)
    assert report.state == "complete"
    assert [(call.tool, call.success) for call in report.calls] == [
        ("explore", True),
        ("remember", True),
    ]
    assert (report.requests, report.tokens["total_tokens"], report.cost) == (2, 2 * TOKENS, None)
    assert +report.written == {"nodes created": 3, "relationships created": 2, "notes added": 1}
    nodes = {node["name"]: node for node in await nodes_of(graph, user_id)}
    assert nodes.keys() == {*NODES, CALL.name}
    assert nodes[CALL.name]["entity_key"] == report.source_entity_key
    stored = await assert_embeddings_are_current(graph, user_id, embedder, clock.now)
    assert {one["relationship_type"]: note_contents(one) for one in stored} == {
        "mentor": [NOTE],
        "works at": [],
    }


async def test_what_a_model_reads_has_the_class_of_the_source(
    graph: KnowledgeGraph, user_id: str
) -> None:
    with deciding_model(careful_reader) as model:
        ingestor = Ingestor(graph, chat_model(model), user_id=user_id, trust="unknown")
        assert (await ingestor.ingest(CALL)).state == "complete"
    nodes = await nodes_of(graph, user_id)
    assert {node["name"] for node in nodes if node["trust_class"] == "unknown"} == {
        *NODES,
        CALL.name,
    }
    assert not (await graph.search(NOTE, user_id=user_id, min_trust="known")).items


async def test_every_note_names_the_source_and_its_day_whatever_the_model_says(
    graph: KnowledgeGraph, user_id: str
) -> None:
    report = await read(graph, user_id)
    assert "another source" in str(report.calls[-1].arguments)
    notes = [
        note
        for r in await relationships_of(graph, user_id)
        for note in json.loads(r.get("notes") or "[]")
    ]
    assert [note["source_entity_key"] for note in notes] == [report.source_entity_key]
    assert [note["when"] for note in notes] == ["2026-01-01"]


async def test_notes_of_tools_that_are_bound_to_a_source_name_it(
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
    functions = {tool["function"]["name"]: tool["function"] for tool in model.requests[0]["tools"]}
    assert functions.keys() == {"explore", "hybrid_search", "remember"}
    assert "source" not in functions["remember"]["parameters"]["properties"]
    assert "user_id" not in json.dumps(model.requests[0])
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
    assert (report.state, report.written.total(), report.calls) == ("unchanged", 0, [])
    assert report.source_entity_key == first.source_entity_key


async def test_forced_run_rereads_without_changing_existing_records(
    graph: KnowledgeGraph, user_id: str
) -> None:
    await read(graph, user_id)
    before = await all_of(graph, user_id)
    report = await read(graph, user_id, force=True)
    assert report.state == "complete"
    assert +report.written == {"nodes unchanged": 3, "relationships unchanged": 2}
    after = await all_of(graph, user_id)
    assert after[1:] == before[1:]
    for node in (*before[0], *after[0]):
        node.pop("ingestion_run", None)
    assert after[0] == before[0]


async def test_the_report_says_what_was_written_and_replaced_and_what_it_cost(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    ruth, iris = await person(tools, "Ruth"), await person(tools, "Iris")
    await relate(tools, ruth, iris, "mentor", attitude=3, notes=["They met in 2019."])
    with deciding_model(careful_reader) as model:
        ingestor = Ingestor(graph, chat_model(model), user_id=user_id, prices=(2.0, 10.0))
        report = await ingestor.ingest(CALL)
        known = model.requests[0]["messages"][1]["content"]
    assert "They met in 2019." in known
    assert "Replaced: Ruth mentor Iris: attitude was 'neutral'" in report.calls[-1].answer
    state, written, spent = report.summary()
    assert state == "read completely."
    assert written == (
        "1 of 1 part read; nodes created: 1, nodes unchanged: 2, relationships created: 1, "
        "relationships updated: 1, notes added: 1."
    )
    assert spent.startswith("2 requests, 2,200 tokens, cost 0.0060, ")
    assert IngestionReport.model_validate_json(report.model_dump_json()) == report


async def test_any_chat_model_with_tools_works(graph: KnowledgeGraph, user_id: str) -> None:
    report = await Ingestor(graph, PlainModel(), user_id=user_id).ingest(CALL)
    assert report.state == "complete"
    assert {node["name"] for node in await nodes_of(graph, user_id)} == {*NODES, CALL.name}
    assert report.tokens["output_tokens"] > 0


async def test_two_users_read_the_same_source_independently(
    graph: KnowledgeGraph, user_id: str
) -> None:
    other = f"{user_id}-other"
    await read(graph, other)
    before = await all_of(graph, other)
    report = await read(graph, user_id)
    assert report.state == "complete"
    assert report.written["nodes created"] == len(NODES)
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


async def test_an_ontology_without_sources_and_an_empty_user_are_rejected(
    graph: KnowledgeGraph, settings: Settings, user_id: str
) -> None:
    ontology = own_ontology()
    own = KnowledgeGraph(services_of(graph).store, ontology, graph.embedder, settings)
    with pytest.raises(ConfigurationError, match="The ontology has no label of sources"):
        Ingestor(own, PlainModel(), user_id=user_id)
    with pytest.raises(InputError, match="user_id must not be empty"):
        Ingestor(graph, PlainModel(), user_id="")


async def test_a_synchronous_program_needs_no_event_loop(
    graph: KnowledgeGraph, settings: Settings, user_id: str
) -> None:
    def synchronous() -> None:
        embedder = HashingEmbedder(DIMENSIONS)
        with SyncKnowledgeGraph.connect(settings=settings, embedder=embedder) as opened:
            limits = Limits(requests_per_part=9)
            ingestor = Ingestor(opened, PlainModel(), user_id=user_id, limits=limits)
            assert ingestor.ingest_sync(CALL).state == "complete"
            assert asyncio.run(ingestor.ingest(CALL)).state == "unchanged"

    await asyncio.to_thread(synchronous)
    with pytest.raises(ConfigurationError, match="use await ingest"):
        Ingestor(graph, PlainModel(), user_id=user_id).ingest_sync(CALL)
