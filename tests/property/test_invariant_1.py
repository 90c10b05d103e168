"""Invariant 1: after any sequence of tool calls, each stored embedding is that of its current
text.
"""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.crowd import plant_people
from tests.support.embedders import WatchedEmbedder
from tests.support.examples import examples
from tests.support.payloads import assert_nothing_hidden
from tests.support.stored import assert_embeddings_are_current, cypher, note_contents

PEOPLE = 3

people = st.integers(0, PEOPLE - 1)
ends = st.tuples(people, people).filter(lambda pair: pair[0] != pair[1])
words = st.sampled_from(["friend", "mentor", "", "  ", "x" * 200, "ünï\0code"])
texts = st.sampled_from(["", "They row", "x" * 1_500, "\n", "«types»"])
levels = (
    st.none() | st.integers(0, 6) | st.sampled_from(["close", "HOSTILE", "known-well", "lukewarm"])
)
lifetimes = st.sampled_from([None, "week", "year", "forever", "eon"])
notes = st.lists(
    st.sampled_from(["one", "two", "z" * 900])
    | st.fixed_dictionaries({"content": st.sampled_from(["three", "four"]), "lifetime": lifetimes}),
    max_size=2,
)
given_values = {"description": texts, "attitude": levels, "proximity": levels}

creations = st.tuples(
    st.just("create_relationship"),
    ends,
    st.fixed_dictionaries({"relationship_type": words, "notes": notes, **given_values}),
)
changes = st.tuples(
    st.just("update_relationship"),
    ends,
    st.fixed_dictionaries(
        {},
        optional={
            "relationship_type": words,
            "confidence": st.floats(0, 1),
            "clear": st.lists(st.sampled_from(["attitude", "proximity"]), max_size=2),
            **given_values,
        },
    ),
)
added_notes = st.tuples(
    st.just("add_note_to_relationship"),
    ends,
    st.fixed_dictionaries(
        {"content": st.sampled_from(["one", "five", "w" * 700]), "lifetime": lifetimes}
    ),
)
edits: st.SearchStrategy[Any] = (
    st.tuples(
        st.just("update_note"),
        ends,
        st.fixed_dictionaries(
            {"note": st.sampled_from(["one", "five"]), "content": st.sampled_from(["two", "six"])},
            optional={"when": st.sampled_from(["2020", "2021/.."])},
        ),
    )
    | st.tuples(
        st.just("delete_note"),
        ends,
        st.fixed_dictionaries({"note": st.sampled_from(["one", "two", "five"])}),
    )
    | st.tuples(st.sampled_from(["delete_relationship", "restore"]), ends, st.just({}))
)
old_writes = st.tuples(
    st.just("another program"),
    ends,
    st.sampled_from(
        [
            {"relation_embedding": [0.1, 0.2]},
            {"description_embedding": "x", "relationship_key": None},
            {"relationship_embedding": [1, 2, 3]},
            {"relationship_embedding": None},
            {"embedding_model": "another"},
            {"user_id": None},
            {"version": None},
        ]
    ),
)
Step = tuple[str, tuple[int, int], dict[str, Any]]

nothing: dict[str, Any] = {}
time_passes = st.tuples(st.just("time passes"), ends, st.just(nothing))


async def take(
    step: Step, tools: Toolset, graph: KnowledgeGraph, keys: list[str], clock: Clock
) -> dict[str, Any] | None:
    name, (first, second), arguments = step
    if name == "time passes":
        clock.forward(days=8)
        return None
    if name == "another program":
        await cypher(
            graph,
            "MATCH (a:Person {entity_key: $first})-[r]-(b:Person {entity_key: $second}) SET r += "
            "$properties",
            first=keys[first],
            second=keys[second],
            properties=arguments,
        )
        return None
    payload = await tools[name](
        from_entity_key=keys[first], to_entity_key=keys[second], **arguments
    )
    assert_nothing_hidden(payload)
    assert "internal error" not in payload.get("error", "")
    return payload


async def write_to_each(tools: Toolset, graph: KnowledgeGraph, keys: list[str]) -> None:
    """One more write of each relationship fixes what other programs and time left stale."""
    rows = await cypher(
        graph,
        "MATCH (a:Person)-[r]->(b) WHERE a.entity_key IN $keys RETURN a.entity_key AS a, "
        "b.entity_key AS b",
        keys=keys,
    )
    for row in rows:
        await tools.update_relationship(
            from_entity_key=row["a"], to_entity_key=row["b"], salience=0.123
        )


@pytest.mark.usefixtures("part")
@examples(4)
@given(steps=st.lists(creations | changes | added_notes, max_size=8))
async def test_embeddings_are_current_after_any_sequence_of_tool_calls(
    graph: KnowledgeGraph, embedder: WatchedEmbedder, clock: Clock, steps: list[Step]
) -> None:
    user_id = f"user-{uuid4()}"
    tools = graph.tools(user_id=user_id)
    keys = await plant_people(graph, user_id, PEOPLE)
    await cypher(graph, "MATCH (n:Person {user_id: $user}) REMOVE n.name", user=user_id)
    written: dict[frozenset[int], int] = {}
    for step in steps:
        payload = await take(step, tools, graph, keys, clock)
        changed = payload is not None and payload["success"]
        if (
            payload is not None
            and changed
            and not payload["message"].startswith(("Nothing changed", "The note exists already"))
        ):
            written[frozenset(step[1])] = written.get(frozenset(step[1]), 0) + 1
        await assert_embeddings_are_current(graph, user_id, embedder, clock())
    stored = await assert_embeddings_are_current(graph, user_id, embedder, clock())
    assert sorted(item["version"] for item in stored) == sorted(written.values())


@pytest.mark.usefixtures("part")
@examples(3)
@given(steps=st.lists(creations | changes | added_notes | old_writes | time_passes, max_size=8))
async def test_one_write_fixes_stale_and_foreign_data(
    graph: KnowledgeGraph, embedder: WatchedEmbedder, clock: Clock, steps: list[Step]
) -> None:
    user_id = f"user-{uuid4()}"
    tools = graph.tools(user_id=user_id)
    keys = await plant_people(graph, user_id, PEOPLE)
    await cypher(graph, "MATCH (n:Person {user_id: $user}) REMOVE n.name", user=user_id)
    for step in steps:
        await take(step, tools, graph, keys, clock)
    await write_to_each(tools, graph, keys)
    await assert_embeddings_are_current(graph, user_id, embedder, clock())


@pytest.mark.usefixtures("part")
@examples(2)
@given(steps=st.lists(creations | changes | added_notes, min_size=2, max_size=6))
async def test_embeddings_are_current_after_concurrent_tool_calls(
    graph: KnowledgeGraph, embedder: WatchedEmbedder, clock: Clock, steps: list[Step]
) -> None:
    user_id = f"user-{uuid4()}"
    tools = graph.tools(user_id=user_id)
    keys = await plant_people(graph, user_id, PEOPLE)
    await cypher(graph, "MATCH (n:Person {user_id: $user}) REMOVE n.name", user=user_id)
    answers = await asyncio.gather(*(take(step, tools, graph, keys, clock) for step in steps))
    stored = await assert_embeddings_are_current(graph, user_id, embedder, clock())
    assert len({frozenset((item["first"], item["second"])) for item in stored}) == len(stored)
    kept = [content for item in stored for content in note_contents(item)]
    for (name, _, arguments), answer in zip(steps, answers, strict=True):
        if name == "add_note_to_relationship" and answer is not None and answer["success"]:
            assert arguments["content"] in kept
    assert clock() - clock.now == timedelta(0)


@pytest.mark.usefixtures("part")
@examples(2)
@given(
    first=st.lists(creations, min_size=2, max_size=3),
    steps=st.lists(edits | added_notes, min_size=4, max_size=10),
)
async def test_notes_are_indexed_after_concurrent_edits_and_deletions(
    graph: KnowledgeGraph,
    embedder: WatchedEmbedder,
    clock: Clock,
    first: list[Step],
    steps: list[Step],
) -> None:
    user_id = f"user-{uuid4()}"
    tools = graph.tools(user_id=user_id)
    keys = await plant_people(graph, user_id, PEOPLE)
    await cypher(graph, "MATCH (n:Person {user_id: $user}) REMOVE n.name", user=user_id)
    for step in first:
        await take(step, tools, graph, keys, clock)
    await asyncio.gather(*(take(step, tools, graph, keys, clock) for step in steps))
    await assert_embeddings_are_current(graph, user_id, embedder, clock())
