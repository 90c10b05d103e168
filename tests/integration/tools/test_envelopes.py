"""What every tool answers, whatever it is called with: an envelope, never an exception."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import EmbeddingUnavailableError, InputError, StoreError
from kgagent.graph.reference_forms import MAX_REFERENCE_LENGTH
from kgagent.graph.relationships import RelationshipIntent
from kgagent.knowledge_graph import services_of
from kgagent.names import without_zero_width
from kgagent.tools import Toolset
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import assert_nothing_hidden, error_of, succeeded
from tests.support.people import create_all, person
from tests.support.stored import Database, cypher

GOOD: dict[str, dict[str, Any]] = {
    "remember": {"nodes": [{"label": "Person", "name": "Cyril"}]},
    "explore": {"queries": [{"query": "mentor"}], "text_matches": ["Ada"]},
    "describe_graph": {"labels": ["Person"]},
    "hybrid_search": {"query": "mentor"},
    "query_patterns": {"patterns": [{"steps": [{"source_label": "Person"}]}], "query": "mentor"},
    "get_relationship": {"from_entity_key": "A", "to_entity_key": "B"},
    "traverse": {"entity_key": "A"},
    "find_paths": {"from_entity_key": "A", "to_entity_key": "B", "query": "mentor"},
    "find_duplicates": {},
    "read_source": {"entity_key": "Talk"},
    "create_node": {"label": "Person", "name": "Cy"},
    "update_node": {"entity_key": "A", "description": "new"},
    "create_relationship": {
        "from_entity_key": "A",
        "to_entity_key": "C",
        "relationship_type": "mentor",
    },
    "update_relationship": {"from_entity_key": "A", "to_entity_key": "B", "attitude": 5},
    "add_note_to_relationship": {"from_entity_key": "A", "to_entity_key": "B", "content": "x"},
    "update_note": {"note": "Plays", "entity_key": "E", "content": "Plays go"},
    "delete_note": {"note": "Plays chess", "entity_key": "E"},
    "delete_relationship": {"from_entity_key": "A", "to_entity_key": "B"},
    "delete_node": {"entity_key": "A", "delete_relationships": True},
    "merge_nodes": {"keep_entity_key": "A", "drop_entity_key": "E"},
    "restore": {"entity_key": "F"},
}
WITHOUT = {
    "find_duplicates",
    "read_source",
    "explore",
    "describe_graph",
    "query_patterns",
    "get_relationship",
    "hybrid_search",
    "traverse",
    "delete_relationship",
    "delete_node",
    "restore",
}
EMBEDDING = sorted(GOOD.keys() - WITHOUT)
"""Tools that fail without an embedding; explore and hybrid_search fall back to names and full-text
search.
"""

Call = Callable[[str], Awaitable[Any]]
Replacement = Callable[..., Awaitable[None]]


async def plant(graph: KnowledgeGraph, user_id: str) -> dict[str, str]:
    """What the good arguments refer to: keys by the letters that stand for them."""
    people = {"A": "Ada", "B": "Bo", "C": "Cy", "D": "Di", "F": "Fay"}
    created = await create_all(
        graph,
        user_id,
        [{"label": "Person", "name": name} for name in people.values()],
        [{"from": "Ada", "to": name, "relationship_type": "friend"} for name in ("Bo", "Di")],
    )
    keys = {letter: created[name] for letter, name in people.items()}
    tools = graph.tools(user_id=user_id)
    succeeded(await tools.delete_relationship(from_entity_key=keys["A"], to_entity_key=keys["D"]))
    succeeded(await tools.delete_node(entity_key=keys["F"]))
    keys["E"] = await person(tools, "Ada", notes=["Plays chess"])
    await graph.add_source("Talk", "They talked about chess.", user_id=user_id)
    return keys


@pytest.fixture
async def keys(graph: KnowledgeGraph, user_id: str) -> dict[str, str]:
    """The keys of the test's own graph."""
    return await plant(graph, user_id)


@pytest.fixture(scope="module")
async def lasting(opened: KnowledgeGraph) -> tuple[str, dict[str, str]]:
    """A user whose graph stays as it is, and its keys, for tests in which nothing is written."""
    user = f"user-{uuid4()}"
    return user, await plant(opened, user)


def with_keys(arguments: Any, keys: dict[str, str]) -> Any:
    if isinstance(arguments, dict):
        return {name: with_keys(value, keys) for name, value in arguments.items()}
    if isinstance(arguments, list):
        return [with_keys(value, keys) for value in arguments]
    return keys.get(arguments, arguments) if isinstance(arguments, str) else arguments


async def call(tools: Toolset, name: str, keys: dict[str, str], **more: object) -> Any:
    return await tools[name](**{**with_keys(GOOD[name], keys), **more})


@pytest.fixture
def call_lasting(graph: KnowledgeGraph, lasting: tuple[str, dict[str, str]]) -> Call:
    """Calls a tool of that user with its good arguments."""
    user, keys = lasting
    return lambda name: call(graph.tools(user_id=user), name, keys)


@pytest.fixture
def replace_reads(
    graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Replacement], None]:
    """Has a function called in place of every read from the database."""

    def replace(replacement: Replacement) -> None:
        for method in ("read", "read_for_update", "write"):
            monkeypatch.setattr(services_of(graph).store, method, replacement)

    return replace


def test_every_tool_is_covered_here(tools: Toolset) -> None:
    assert set(GOOD) == set(tools)


@pytest.mark.parametrize("name", GOOD)
async def test_good_arguments_succeed(tools: Toolset, keys: dict[str, str], name: str) -> None:
    succeeded(await call(tools, name, keys))


async def test_an_extra_argument_is_refused(tools: Toolset) -> None:
    for name, arguments in GOOD.items():
        for extra in ("user_id", "a\nb", "x" * 10_000):
            assert "unknown argument" in error_of(await tools[name](**arguments, **{extra: "x"}))
            error_of((await tools[name].call_text(json.dumps({**arguments, extra: "x"}))).payload)
        error_of(await tools[name](**arguments, **{"\ud800": "x"}))


async def test_an_argument_of_the_wrong_kind_is_named(tools: Toolset) -> None:
    for name, arguments in GOOD.items():
        field = next(iter(arguments), None)
        if field is None:
            continue
        values: list[object] = [7, True, {}, "\ud800", "x" * 1_000_000, [[]]]
        if not isinstance(arguments[field], list):  # null in place of a list is no list
            values.append(None)
        for wrong in values:
            assert error_of(await tools[name](**{**arguments, field: wrong})).startswith(field)


async def test_no_arguments_are_an_error(tools: Toolset) -> None:
    for name in GOOD.keys() - {"describe_graph", "find_duplicates"}:
        error_of(await tools[name]())
        error_of((await tools[name].call_text("")).payload)


async def test_text_that_is_not_a_json_object_is_an_error(tools: Toolset) -> None:
    for name in GOOD:
        for text in ("{", "null", "[" * 200_000, "{'a': 1}"):
            answer = await tools[name].call_text(text)
            assert error_of(answer.payload).startswith("Arguments ")


async def test_a_failing_embedder_is_an_error_and_nothing_is_written(
    graph: KnowledgeGraph,
    embedder: WatchedEmbedder,
    call_lasting: Call,
    lasting: tuple[str, dict[str, str]],
) -> None:
    async def everything() -> list[dict[str, Any]]:
        return await cypher(
            graph,
            "MATCH (n:Person|Concept|Entity|Source|KgagentDeletedNode|KgagentDeletedRelationship "
            "{user_id: $user}) "
            "OPTIONAL MATCH (n)-[r]->() "
            "RETURN properties(n) AS n, properties(r) AS r ORDER BY n.entity_key",
            user=lasting[0],
        )

    before = await everything()
    embedder.failure = EmbeddingUnavailableError("the model is down")
    for name in EMBEDDING:
        assert error_of(await call_lasting(name)).endswith("the model is down"), name
    assert await everything() == before


async def test_a_failing_database_is_an_error(
    call_lasting: Call, replace_reads: Callable[[Replacement], None]
) -> None:
    async def down(*_: object, **__: object) -> None:
        raise StoreError("Neo4j at bolt://x cannot be used")

    replace_reads(down)
    for name in GOOD:
        assert error_of(await call_lasting(name)).endswith("Neo4j at bolt://x cannot be used"), name


async def test_an_internal_error_is_reported_without_details(
    call_lasting: Call,
    replace_reads: Callable[[Replacement], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret details")

    replace_reads(broken)
    for name in GOOD:
        caplog.clear()
        error = error_of(await call_lasting(name))
        assert error.startswith(f"{name} failed with an internal error")
        assert "secret" not in error
        assert "secret details" in caplog.text


async def test_a_cancellation_is_raised(
    call_lasting: Call, replace_reads: Callable[[Replacement], None]
) -> None:
    reading = asyncio.Event()

    async def stuck(*_: object, **__: object) -> None:
        reading.set()
        await asyncio.Event().wait()

    replace_reads(stuck)
    for name in GOOD:
        reading.clear()
        task = asyncio.ensure_future(call_lasting(name))
        await reading.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


HOSTILE = [
    "'; MATCH (n) DETACH DELETE n // `) {a} «types» $user_id %s \\u0060 nul\0byte",
    "\u202eright to left\u202c\r\n\ttab",
    "x" * 20_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
async def test_any_text_is_stored_and_returned_unchanged(
    tools: Toolset, graph: KnowledgeGraph, database: Database, user_id: str, text: str
) -> None:
    name = text.replace("\0", "")[:MAX_REFERENCE_LENGTH]
    stored_name = without_zero_width(name).strip()
    made = [
        succeeded(await tools.create_node(label=label, name=name, description=text))
        for label in ("Person", "Entity")
    ]
    ends = {"from_entity_key": made[0]["entity_key"], "to_entity_key": made[1]["entity_key"]}
    word = text[:200]
    succeeded(
        await tools.create_relationship(
            **ends, relationship_type=word, description=text, notes=[text]
        )
    )
    succeeded(
        await tools.add_note_to_relationship(
            **ends, content=f"also {text[:100]}", source_entity_key=f"a letter, {name[:100]}"
        )
    )
    [record] = await services_of(graph).relationships.read(user_id, RelationshipIntent(**ends))
    stored = record.to_model(graph.ontology)
    stripped = text.strip()
    assert stored.description == stored.notes[0].content == stripped
    assert stored.from_name == stored_name
    assert stored.relationship_type == word.strip()
    shown = succeeded(await tools.get_relationship(**ends, token_budget=20_000))["relationship"]
    assert shown["from_name"] == stored_name
    if len(text) < 20_000:
        assert shown["description"] == shown["notes"][0]["content"] == stripped
    else:
        # An answer of a tool has a budget, and what exceeds it is cut.
        assert len(shown["description"]) + len(shown["notes"][0]["content"]) < 2 * len(stripped)
    for form in ("json", "text"):
        found = succeeded(
            await tools.explore(
                queries=[{"query": text[:8_000], "threshold": -1}],
                text_matches=[text],
                format=form,
                return_explanations=True,
            )
        )
        assert found["message"] == "Found 3 nodes and 1 relationship"
    error_of(await tools.update_relationship(**ends, attitude=text))
    error_of(await tools.update_relationship(from_entity_key=text, to_entity_key=word, attitude=1))
    error_of(await tools.create_node(label=text, name="x"))
    error_of(await tools.update_relationship(**ends, neo4j_type=text, attitude=1))
    error_of(await tools.explore(text_matches=["x"], node_types=[text]))
    error_of(await tools.add_note_to_relationship(**ends, content="x", lifetime=text))
    # The two, and the source of the note.
    assert len(await database.nodes()) == 3


async def test_bookkeeping_of_old_graphs_is_never_returned(
    tools: Toolset, database: Database, keys: dict[str, str]
) -> None:
    planted = {
        "relation_embedding": [0.1, 0.2, 0.3],
        "notes_embedding": [0.1, 0.2, 0.3],
        "description_embedding": [0.1, 0.2, 0.3],
        "is_dirty": True,
        "decay_gradient": 0.5,
        "recall_frequency": 3,
        "last_recall_interval": 9,
        "created_by": "someone",
        "last_update_source": "somewhere",
        "tags": [],
    }
    await database.run(
        "MATCH (n:Person|Concept {user_id: $user}) SET n += $planted WITH n MATCH (n)-[r]->() SET "
        "r += $planted",
        planted=planted,
    )
    for name in GOOD:
        assert_nothing_hidden(await call(tools, name, keys))
    for form in ("json", "text"):
        payload = await tools.explore(
            queries=[{"query": "friend", "threshold": -1}],
            text_matches=["Ada"],
            format=form,
            return_explanations=True,
        )
        succeeded(payload)
        assert not any(f"{name}" in json.dumps(payload) for name in planted)


def test_tools_need_a_user(graph: KnowledgeGraph) -> None:
    for wrong, said in (("", "user_id must not be empty"), ("ada\ud800", "an unpaired surrogate")):
        with pytest.raises(InputError, match=said):
            graph.tools(user_id=wrong)


def test_an_unknown_tool_is_named(tools: Toolset, user_id: str) -> None:
    with pytest.raises(
        AttributeError, match="No tool is called 'delete_everything'; there are remember, explore, "
    ):
        _ = tools.delete_everything
    assert tools.user_id == user_id
    assert repr(tools.explore) == "<tool explore>"
