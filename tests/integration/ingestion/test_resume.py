"""A stopped run is resumed and repeats no work; a source whose text changes is a newer version."""

import asyncio
import threading
from pathlib import Path

from werkzeug import Response

from kgagent import KnowledgeGraph
from kgagent.cli.source_files import read_sources
from kgagent.ingestion import IngestionReport, Ingestor, Limits, Source, Turn
from tests.support.embedders import WatchedEmbedder
from tests.support.openai_models import (
    TOKENS,
    Body,
    Calls,
    ScriptedModel,
    broken,
    deciding_model,
    refused,
    scripted_model,
)
from tests.support.reading import (
    CALL,
    NODES,
    NOTE,
    SAID,
    careful_reader,
    chat_model,
    looking_reader,
)
from tests.support.stored import all_of, nodes_of, note_contents, relationships_of

LETTER = Source(
    id="letter",
    name="Letter",
    text="\n\n".join(f"Chapter {n}. " + f"On day {n} it rained. " * 12 for n in (1, 2, 3)),
)
SMALL = Limits(part_size=300)


async def read(
    graph: KnowledgeGraph, user_id: str, model: ScriptedModel, source: Source, **limits: int
) -> IngestionReport:
    given = SMALL.model_copy(update=limits)
    return await Ingestor(graph, chat_model(model), user_id=user_id, limits=given).ingest(source)


async def outline(
    graph: KnowledgeGraph, user_id: str
) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """What the user has, without keys and times."""
    nodes = sorted(str(node["name"]) for node in await nodes_of(graph, user_id))
    stored = await relationships_of(graph, user_id)
    return nodes, sorted((str(item["relationship_type"]), note_contents(item)) for item in stored)


WHOLE = (sorted([*NODES, CALL.name]), [("mentor", [NOTE]), ("works at", [])])


def parts_asked(model: ScriptedModel) -> list[str]:
    """The chapter that each request is about."""
    prompts = [
        request["messages"][1]["content"].partition("Read this, ")[2] for request in model.requests
    ]
    return [text.partition(":")[2].split(".")[0].strip() for text in prompts]


def says_half(_: list[Body]) -> Calls:
    """What the careful reader says, as if more were to follow."""
    return [("remember", {**SAID, "part_done": False})]


async def test_after_a_failure_of_the_model_the_next_run_repeats_nothing(
    graph: KnowledgeGraph, user_id: str
) -> None:
    with scripted_model(careful_reader, says_half, lambda _: broken()) as model:
        stopped = await Ingestor(graph, chat_model(model), user_id=user_id).ingest(CALL)
    assert stopped.state == "stopped"
    assert "the model failed: " in stopped.reason
    assert stopped.written["nodes created"] == len(NODES)
    with deciding_model(careful_reader) as model:
        report = await Ingestor(graph, chat_model(model), user_id=user_id).ingest(CALL)
    assert (report.state, report.written["nodes created"]) == ("complete", 0)
    assert await outline(graph, user_id) == WHOLE


async def test_the_words_are_found_whatever_the_model_does(
    graph: KnowledgeGraph, user_id: str
) -> None:
    with deciding_model(lambda _: broken()) as model:
        report = await Ingestor(graph, chat_model(model), user_id=user_id).ingest(CALL)
        prompt = model.requests[0]["messages"][1]["content"]
    assert (report.state, report.parts_read) == ("stopped", 0)
    assert prompt.count("They build ferries that run on hydrogen.") == 1
    answer = await graph.tools(user_id=user_id).hybrid_search.call_text(
        {"query": "who builds ferries that run on hydrogen?"}
    )
    assert "Ruth: Yes, I begin at Halden Yard in March." in answer.text
    assert "2026-01-01" in answer.text


async def test_run_killed_during_a_write_does_not_write_twice(
    graph: KnowledgeGraph, embedder: WatchedEmbedder, user_id: str
) -> None:
    killed = threading.Event()

    def until_killed(outputs: list[Body]) -> Calls:
        if outputs and not killed.is_set():
            embedder.gate.clear()
        return careful_reader(outputs)

    with deciding_model(until_killed) as model:
        ingestor = Ingestor(graph, chat_model(model), user_id=user_id)
        running = asyncio.ensure_future(ingestor.ingest(CALL))
        await embedder.asked_for(2)
        killed.set()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        embedder.gate.set()
        assert running.cancelled()
        report = await ingestor.ingest(CALL)
    assert report.state == "complete"
    assert await outline(graph, user_id) == WHOLE


async def test_run_stops_when_tokens_run_out_and_the_next_resumes(
    graph: KnowledgeGraph, user_id: str
) -> None:
    with deciding_model(looking_reader) as model:
        first = await read(graph, user_id, model, LETTER, tokens=3 * TOKENS)
        assert (first.state, first.parts_read) == ("stopped", 1)
        assert first.reason == f"the token limit of {3 * TOKENS:,} is reached"
        second = await read(graph, user_id, model, LETTER)
    assert (second.state, second.requests) == ("complete", 4)


async def test_long_source_is_read_in_parts_and_finished_parts_are_skipped(
    graph: KnowledgeGraph, user_id: str
) -> None:
    with scripted_model(looking_reader, looking_reader, lambda _: broken()) as model:
        stopped = await read(graph, user_id, model, LETTER)
        assert parts_asked(model) == ["Chapter 1", "Chapter 1", "Chapter 2"]
    assert (stopped.state, stopped.parts, stopped.parts_read) == ("stopped", 3, 1)
    with deciding_model(looking_reader) as model:
        report = await Ingestor(graph, chat_model(model), user_id=user_id).ingest(LETTER)
        assert parts_asked(model) == ["Chapter 2", "Chapter 2", "Chapter 3", "Chapter 3"]
        prompt = model.requests[0]["messages"][1]["content"]
    assert (report.state, report.parts, report.parts_read) == ("complete", 3, 3)
    assert "Read this, part 2 of 3:" in prompt
    assert (
        prompt.index("Text before this part")
        < prompt.index("On day 1 it rained")
        < prompt.index("Chapter 2")
    )
    assert report.warnings == ["Part 2: nothing was recorded", "Part 3: nothing was recorded"]


async def test_refused_part_is_skipped_and_retried_by_the_next_run(
    graph: KnowledgeGraph, user_id: str
) -> None:
    def filtered(_: list[Body]) -> Response:
        return refused("The prompt was filtered", "content_filter")

    turns = (looking_reader, looking_reader, filtered, looking_reader, looking_reader)
    with scripted_model(*turns) as model:
        report = await read(graph, user_id, model, LETTER)
        assert parts_asked(model) == [f"Chapter {n}" for n in (1, 1, 2, 3, 3)]
    assert (report.state, report.parts, report.parts_read) == ("incomplete", 3, 2)
    [warning] = [warning for warning in report.warnings if "abandoned" in warning]
    assert warning.startswith("Part 2 was abandoned: the model's provider refused it: ")
    assert "The prompt was filtered" in warning
    with deciding_model(looking_reader) as model:
        again = await read(graph, user_id, model, LETTER)
        assert parts_asked(model) == ["Chapter 2", "Chapter 2"]
    assert (again.state, again.parts_read) == ("complete", 3)


async def test_later_of_two_concurrent_runs_takes_over(graph: KnowledgeGraph, user_id: str) -> None:
    asked, let_go = threading.Event(), threading.Event()

    def slow(outputs: list[Body]) -> Calls:
        asked.set()
        assert let_go.wait(60)
        return careful_reader(outputs)

    with deciding_model(slow) as first, deciding_model(careful_reader) as second:
        running = asyncio.ensure_future(
            Ingestor(graph, chat_model(first), user_id=user_id).ingest(CALL)
        )
        assert await asyncio.to_thread(asked.wait, 60)
        report = await Ingestor(graph, chat_model(second), user_id=user_id).ingest(CALL)
        let_go.set()
        overtaken = await running
    assert report.state == "complete"
    assert overtaken.state == "stopped"
    assert "Another run is reading this source" in overtaken.reason
    assert {call.tool for call in overtaken.calls} == {"explore"}
    assert await outline(graph, user_id) == WHOLE


async def test_concurrent_first_runs_create_one_source(graph: KnowledgeGraph, user_id: str) -> None:
    with deciding_model(careful_reader) as model:
        ingestor = Ingestor(graph, chat_model(model), user_id=user_id)
        reports = await asyncio.gather(*(ingestor.ingest(CALL) for _ in range(3)))
    assert {report.state for report in reports} <= {"complete", "unchanged", "stopped"}
    assert [node["name"] for node in await nodes_of(graph, user_id)].count(CALL.name) == 1


async def test_a_longer_source_keeps_its_node_and_only_its_new_parts_are_read(
    graph: KnowledgeGraph, user_id: str
) -> None:
    grown = LETTER.model_copy(update={"text": f"{LETTER.text} Then the sun came out."})
    with deciding_model(looking_reader) as model:
        first = await read(graph, user_id, model, LETTER)
        report = await read(graph, user_id, model, grown)
        assert "Then the sun came out." in model.requests[-1]["messages"][1]["content"]
        assert (await read(graph, user_id, model, grown)).state == "unchanged"
    assert {call.part for call in first.calls} == {1, 2, 3}
    assert (report.state, report.parts, report.parts_read) == ("complete", 3, 3)
    assert {call.part for call in report.calls} == {3}
    assert report.source_entity_key == first.source_entity_key
    [source] = await nodes_of(graph, user_id)
    assert source["content_hash"] == grown.fingerprint
    assert LETTER.id not in str(source)


async def test_the_same_text_under_another_id_or_none_is_not_read_again(
    graph: KnowledgeGraph, user_id: str
) -> None:
    known = CALL.model_copy(update={"id": "calls/ruth"})
    turns = (*known.turns, Turn(speaker="Iris", text="I will come."))
    with deciding_model(careful_reader) as model:
        ingestor = Ingestor(graph, chat_model(model), user_id=user_id)
        first = await ingestor.ingest(known)
        before = await all_of(graph, user_id)
        for source in (CALL, known.model_copy(update={"id": "a copy"})):
            report = await ingestor.ingest(source)
            assert report.state == "unchanged"
            assert report.source_entity_key == first.source_entity_key
        assert await all_of(graph, user_id) == before
        grown = await ingestor.ingest(known.model_copy(update={"turns": turns}))
    assert (grown.state, grown.written["relationships created"]) == ("complete", 0)
    assert await outline(graph, user_id) == WHOLE


async def test_a_file_that_was_loaded_is_read_as_the_same_source(
    graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "call.md"
    file.write_text(CALL.content)
    await graph.load(file, user_id=user_id)
    [loaded] = await nodes_of(graph, user_id)
    with deciding_model(careful_reader) as model:
        [one] = read_sources([file], strict=True)
        assert one.source is not None
        report = await read(graph, user_id, model, one.source, part_size=10_000)
    assert (report.state, report.source_entity_key) == ("complete", loaded["entity_key"])
    assert (await graph.load(file, user_id=user_id)).nodes.created == 0
    sources = [one for one in await nodes_of(graph, user_id) if one.get("source_text")]
    assert [one["entity_key"] for one in sources] == [loaded["entity_key"]]
