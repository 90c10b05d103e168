"""A migration whose texts are embedded by OpenAI's Batch API: the real SDK, over HTTP to a server with that API."""

import asyncio
import sqlite3
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kgagent import BatchEngine, KnowledgeGraph
from kgagent.adapters.langgraph import KnowledgeGraphStore
from kgagent.embedding.openai import OpenAIEmbedder
from kgagent.embedding.openai_batch import OpenAIBatches
from kgagent.embedding.prefixed import PrefixedEmbedder
from kgagent.errors import ConfigurationError, InputError
from kgagent.migration import MigrationReport, MigrationStoppedError
from tests.conftest import Clock, Server
from tests.integration.migration.old_graph import is_untouched, many_old, with_embedder
from tests.support.embedders import openai_embedder
from tests.support.openai_batches import Ending
from tests.support.openai_server import OpenAIServer, status
from tests.support.payloads import succeeded
from tests.support.stored import assert_embeddings_are_current, cypher, relationships_of

LIMIT = ("token_limit_exceeded", "Enqueued token limit reached for text-embedding-3-small", None)


@pytest.fixture
async def model(openai: OpenAIServer) -> AsyncIterator[OpenAIEmbedder]:
    embedder = openai_embedder(openai.base_url)
    yield embedder
    await embedder.aclose()


@pytest.fixture
async def old(graph: KnowledgeGraph, model: OpenAIEmbedder) -> KnowledgeGraph:
    """The graph with OpenAI's embeddings."""
    return with_embedder(graph, model)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state.sqlite"


@pytest.fixture
def engine(state: Path) -> BatchEngine:
    return BatchEngine(state=state, poll=0.01)


def mode(path: Path) -> str:
    """The mode of a file; empty if there is none."""
    return stat.filemode(path.stat().st_mode) if path.exists() else ""


async def by_batches(graph: KnowledgeGraph, user_id: str, engine: BatchEngine) -> MigrationReport:
    return await graph.migrate(user_id=user_id, engine=engine)


async def is_under_way(openai: OpenAIServer) -> None:
    """Wait until a client has looked at a batch."""
    await asyncio.to_thread(openai.batches.wait_for_look)


async def assert_all_is_current(graph: KnowledgeGraph, user_id: str, model: OpenAIEmbedder, clock: Clock) -> None:
    assert not any(map(is_untouched, await relationships_of(graph, user_id)))
    await assert_embeddings_are_current(graph, user_id, model, clock())


async def test_all_texts_are_embedded_by_a_batch_and_nothing_of_it_is_left(
    old: KnowledgeGraph,
    user_id: str,
    openai: OpenAIServer,
    engine: BatchEngine,
    state: Path,
    model: OpenAIEmbedder,
    clock: Clock,
) -> None:
    await many_old(old, user_id, 4)
    report = await by_batches(old, user_id, engine)
    assert (report.nodes.embedded, report.relationships.embedded, report.skipped) == (5, 4, ())
    assert openai.requests == []
    assert len(openai.batches.batches) == 1
    assert openai.batches.files == {}
    assert mode(state) == ""
    await assert_all_is_current(old, user_id, model, clock)


async def test_a_graph_in_the_present_form_and_a_dry_run_make_no_batch(
    old: KnowledgeGraph, user_id: str, openai: OpenAIServer, engine: BatchEngine
) -> None:
    await many_old(old, user_id, 1)
    assert (await old.migrate(user_id=user_id, dry_run=True, engine=engine)).total.embedded == 3
    assert openai.batches.batches == {}
    await by_batches(old, user_id, engine)
    assert (await by_batches(old, user_id, engine)).total.up_to_date == 3
    assert len(openai.batches.batches) == 1


async def test_a_killed_migration_continues_with_the_same_batch(
    old: KnowledgeGraph,
    user_id: str,
    openai: OpenAIServer,
    engine: BatchEngine,
    state: Path,
    model: OpenAIEmbedder,
    clock: Clock,
    server: Server,
    repository_root: Path,
) -> None:
    await many_old(old, user_id, 3)
    openai.batches.looks = 1_000_000
    arguments = [server.uri, server.username, server.password, user_id, openai.base_url, str(state)]
    module = "tests.integration.migration.batch_migration"
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", module, *arguments, cwd=repository_root)
    try:
        await is_under_way(openai)
        with pytest.raises(InputError, match="is in use by another process"):
            await by_batches(old, user_id, engine)
    finally:
        process.kill()
        await process.wait()
    assert all(map(is_untouched, await relationships_of(old, user_id)))
    assert mode(state) == "-rw-------"
    openai.batches.looks = 0
    assert (await by_batches(old, user_id, engine)).relationships.embedded == 3
    assert len(openai.batches.batches) == 1
    await assert_all_is_current(old, user_id, model, clock)


async def test_a_batch_whose_creation_was_not_acknowledged_is_used(
    old: KnowledgeGraph, user_id: str, openai: OpenAIServer, engine: BatchEngine
) -> None:
    await many_old(old, user_id, 1)
    openai.batches.lost_replies = 1
    assert (await by_batches(old, user_id, engine)).total.embedded == 3
    assert len(openai.batches.batches) == 1


async def test_a_batch_that_was_created_before_a_kill_is_found_by_its_tag(
    openai: OpenAIServer, model: OpenAIEmbedder, tmp_path: Path
) -> None:
    batches = OpenAIBatches(model)
    file = tmp_path / "requests.jsonl"
    await asyncio.to_thread(file.write_bytes, batches.line("one", "text"))
    created = await batches.submit(file, "mine", since=0)
    assert await batches.submit(file, "mine", since=0) == created
    assert await batches.submit(file, "another", since=0) != created
    assert await batches.submit(file, "mine", since=2_000_000_000) != created
    assert len(openai.batches.batches) == 3


async def test_batches_keep_to_the_limits(
    old: KnowledgeGraph, user_id: str, openai: OpenAIServer, engine: BatchEngine, model: OpenAIEmbedder, clock: Clock
) -> None:
    await many_old(old, user_id, 4)
    line = len(OpenAIBatches(model).line("0" * 64, "Old story 1"))
    small = replace(engine, inputs=3, enqueued=6, size=2 * line + line // 2)
    assert (await by_batches(old, user_id, small)).total.embedded == 9
    sizes = [len(batch.requests) for batch in openai.batches.batches.values()]
    assert (sum(sizes), max(sizes)) == (9, 2)
    assert openai.batches.most_open == 2
    await assert_all_is_current(old, user_id, model, clock)


@pytest.mark.parametrize(
    "wrong", [{"inputs": 0}, {"inputs": 50_001}, {"size": 200_000_001}, {"inputs": 10, "enqueued": 9}, {"poll": 0.0}]
)
def test_limits_beyond_those_of_the_api_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="got "):
        BatchEngine(state="state.sqlite", **wrong)


async def test_a_text_that_is_refused_is_named_with_the_reason_and_the_others_are_migrated(
    old: KnowledgeGraph, user_id: str, openai: OpenAIServer, engine: BatchEngine
) -> None:
    await many_old(old, user_id, 3)
    refused = "MATCH (:Person {entity_key: $user + '-0', user_id: $user})-[r]->() SET r.description = $story"
    await cypher(old, refused, user=user_id, story="refuse me")
    report = await by_batches(old, user_id, engine)
    assert (report.relationships.embedded, report.relationships.skipped) == (2, 1)
    [skipped] = report.skipped
    assert f"'{user_id}-0' -> '{user_id}-1'" in skipped.what
    assert skipped.why == "OpenAI's batch batch_1: This text is refused"
    assert openai.requests == []
    await cypher(old, refused, user=user_id, story="accept me")
    assert (await by_batches(old, user_id, engine)).relationships.embedded == 1


@pytest.mark.parametrize("ending", ["expired", "cancelled"])
async def test_what_a_batch_did_before_it_ended_early_is_kept_and_the_rest_left_to_the_next_run(
    old: KnowledgeGraph,
    user_id: str,
    openai: OpenAIServer,
    engine: BatchEngine,
    model: OpenAIEmbedder,
    clock: Clock,
    ending: str,
) -> None:
    await many_old(old, user_id, 4)
    openai.batches.endings.append(Ending(ending, done=7))
    report = await by_batches(old, user_id, engine)
    assert (report.total.embedded, report.total.skipped) == (7, 2)
    was = "was cancelled" if ending == "cancelled" else ending
    why = f"OpenAI's batch batch_1 {was} before it embedded this text; run the migration again"
    assert {skipped.why for skipped in report.skipped} == {why}
    assert (await by_batches(old, user_id, engine)).total.embedded == 2
    assert [len(batch.requests) for batch in openai.batches.batches.values()] == [9, 2]
    await assert_all_is_current(old, user_id, model, clock)


async def test_a_batch_that_is_refused_stops_the_migration_and_the_next_run_creates_it_again(
    old: KnowledgeGraph, user_id: str, openai: OpenAIServer, engine: BatchEngine
) -> None:
    await many_old(old, user_id, 2)
    openai.batches.endings.append(Ending("failed", errors=[("invalid_json_line", "This line is no JSON", 3)]))
    with pytest.raises(MigrationStoppedError, match="OpenAI refused batch batch_1: line 3: This line is no JSON"):
        await by_batches(old, user_id, engine)
    assert all(map(is_untouched, await relationships_of(old, user_id)))
    assert (await by_batches(old, user_id, engine)).relationships.embedded == 2


async def test_batches_beyond_the_accounts_limit_wait_for_others(
    old: KnowledgeGraph, user_id: str, openai: OpenAIServer, engine: BatchEngine
) -> None:
    await many_old(old, user_id, 4)
    openai.batches.looks = 2
    openai.batches.endings.extend([Ending(), Ending("failed", errors=[LIMIT])])
    report = await by_batches(old, user_id, replace(engine, inputs=3))
    assert (report.total.embedded, report.total.skipped) == (9, 0)
    assert [len(batch.requests) for batch in openai.batches.batches.values()] == [3, 3, 3, 3]


async def test_a_batch_that_exceeds_the_accounts_limit_alone_is_made_smaller_until_none_fits(
    old: KnowledgeGraph, user_id: str, openai: OpenAIServer, engine: BatchEngine
) -> None:
    await many_old(old, user_id, 1)
    openai.batches.endings.extend([Ending("failed", errors=[LIMIT])] * 4)
    with pytest.raises(MigrationStoppedError, match="accepts no further texts now: Enqueued token limit reached"):
        await by_batches(old, user_id, replace(engine, inputs=2_000))
    assert len(openai.batches.batches) == 3
    openai.batches.endings.clear()
    assert (await by_batches(old, user_id, engine)).total.embedded == 3


async def test_what_tools_write_while_a_batch_runs_is_kept_and_embedded(
    old: KnowledgeGraph, user_id: str, openai: OpenAIServer, engine: BatchEngine, model: OpenAIEmbedder, clock: Clock
) -> None:
    await many_old(old, user_id, 3)
    openai.batches.looks = 1_000_000
    running = asyncio.create_task(by_batches(old, user_id, engine))
    await is_under_way(openai)
    ends = {"from_entity_key": f"{user_id}-0", "to_entity_key": f"{user_id}-1"}
    succeeded(await old.tools(user_id=user_id).update_relationship(**ends, description="New story"))
    await cypher(
        old,
        "MATCH (:Person {entity_key: $user + '-1', user_id: $user})-[r]->() SET r.description = 'Newer story'",
        user=user_id,
    )
    openai.batches.looks = 0
    report = await running
    asked_directly = openai.inputs
    assert (report.relationships.embedded, report.relationships.up_to_date) == (2, 1)
    found = await assert_embeddings_are_current(old, user_id, model, clock())
    assert sorted(stored["description"] for stored in found) == ["New story", "Newer story", "Old story 3"]
    assert asked_directly == ["New story", "Newer story"]


async def test_a_migration_that_stops_while_it_writes_keeps_the_embeddings_for_the_next_run(
    old: KnowledgeGraph, user_id: str, openai: OpenAIServer, engine: BatchEngine, state: Path
) -> None:
    await many_old(old, user_id, 2)
    openai.batches.looks = 1_000_000
    running = asyncio.create_task(by_batches(old, user_id, engine))
    await is_under_way(openai)
    await cypher(old, "MATCH (n:Person {entity_key: $user + '-0', user_id: $user}) SET n.name = 'New'", user=user_id)
    openai.fail_next(status(401))
    openai.batches.looks = 0
    with pytest.raises(MigrationStoppedError, match="The API key was rejected"):
        await running
    assert mode(state) == "-rw-------"
    assert (await by_batches(old, user_id, engine)).total.skipped == 0
    assert [len(batch.requests) for batch in openai.batches.batches.values()] == [5, 1]


async def test_a_cancelled_run_leaves_the_batch_to_the_next(
    old: KnowledgeGraph, user_id: str, openai: OpenAIServer, engine: BatchEngine
) -> None:
    await many_old(old, user_id, 1)
    openai.batches.looks = 1_000_000
    running = asyncio.create_task(by_batches(old, user_id, engine))
    await is_under_way(openai)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    openai.batches.looks = 0
    await by_batches(old, user_id, engine)
    assert len(openai.batches.batches) == 1


async def test_a_batch_of_another_account_is_named(
    old: KnowledgeGraph, user_id: str, openai: OpenAIServer, engine: BatchEngine
) -> None:
    await many_old(old, user_id, 1)
    openai.batches.endings.append(Ending("failed", errors=[("x", "no", None)]))
    with pytest.raises(MigrationStoppedError):
        await by_batches(old, user_id, replace(engine, inputs=2))
    openai.batches.batches.clear()
    with pytest.raises(MigrationStoppedError, match="OpenAI has no batch batch_2 for this key"):
        await by_batches(old, user_id, engine)


async def test_prefixes_are_sent(
    graph: KnowledgeGraph, user_id: str, openai: OpenAIServer, engine: BatchEngine, model: OpenAIEmbedder
) -> None:
    prefixed = with_embedder(graph, PrefixedEmbedder(model, passage_prefix="passage: "))
    await many_old(prefixed, user_id, 1)
    assert (await by_batches(prefixed, user_id, engine)).total.embedded == 3
    [batch] = openai.batches.batches.values()
    sent = {request["body"]["input"][0] for request in batch.requests}
    assert sent == {"passage: Nr 0", "passage: Nr 1", "passage: Old story 1"}


async def test_texts_of_stored_items_are_embedded_by_the_batch(
    old: KnowledgeGraph, graph: KnowledgeGraph, user_id: str, openai: OpenAIServer, engine: BatchEngine
) -> None:
    await KnowledgeGraphStore(graph, user_id=user_id).aput(("facts",), "one", {"text": "She rows"}, index=["text"])
    assert (await by_batches(old, user_id, engine)).store_texts == 1
    assert openai.requests == []
    [item] = await KnowledgeGraphStore(old, user_id=user_id).asearch((), query="She rows")
    assert item.score == pytest.approx(1.0)


@pytest.fixture(params=["text", "database"])
def foreign_file(request: pytest.FixtureRequest, state: Path) -> bytes:
    """What another program has written to the path of the state file."""
    if request.param == "text":
        state.write_bytes(b"no database, but a text that is long enough not to be taken for a new one " * 3)
    else:
        with closing(sqlite3.connect(state)) as other:
            other.execute("CREATE TABLE mine (x)")
    return state.read_bytes()


async def test_a_file_that_is_something_else_is_refused_and_stays(
    old: KnowledgeGraph, user_id: str, engine: BatchEngine, state: Path, foreign_file: bytes
) -> None:
    with pytest.raises(InputError, match=r"state\.sqlite is .*hoose another file"):
        await by_batches(old, user_id, engine)
    assert await asyncio.to_thread(state.read_bytes) == foreign_file


async def test_a_state_of_another_model_and_an_embedder_without_batches_are_refused(
    old: KnowledgeGraph, graph: KnowledgeGraph, user_id: str, openai: OpenAIServer, engine: BatchEngine
) -> None:
    await many_old(old, user_id, 1)
    openai.batches.endings.append(Ending("failed", errors=[("x", "no", None)]))
    with pytest.raises(MigrationStoppedError):
        await by_batches(old, user_id, engine)
    larger = with_embedder(graph, openai_embedder(openai.base_url, model="text-embedding-3-large"))
    with pytest.raises(InputError, match="is of text-embedding-3-small, 384 dimensions, and the graph's embedder is"):
        await by_batches(larger, user_id, engine)
    with pytest.raises(
        ConfigurationError, match="Batches need OpenAI's embeddings, and the graph's embedder is custom"
    ):
        await by_batches(graph, user_id, replace(engine, state="other.sqlite"))
