"""Loading JSON Lines into a real graph."""

import json
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import EmbeddingUnavailableError, InputError
from kgagent.files import LoadCounts, LoadReport
from tests.conftest import Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.fixtures import embedder
from tests.support.payloads import error_of
from tests.support.stored import (
    assert_embeddings_are_current,
    nodes_of,
    note_contents,
    relationships_of,
    the_relationship,
)

__all__ = ["embedder"]

Line = dict[str, Any]
Load = Callable[..., Awaitable[LoadReport]]


@pytest.fixture
def load(graph: KnowledgeGraph, user_id: str, tmp_path: Path) -> Load:
    """Writes lines to a file and loads it for the test's user."""

    async def run(*lines: Line | str, user: str = user_id, **options: Any) -> LoadReport:
        path = tmp_path / "lines.jsonl"
        path.write_text(
            "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines),
            "utf-8",
        )
        return await graph.load(
            path,
            user_id=user,
            **options,
        )

    return run


def person(name: str, **more: object) -> Line:
    return {"kind": "node", "label": "Person", "id": name.lower(), "name": name, **more}


def relation(first: str, second: str, **more: object) -> Line:
    return {
        "kind": "relationship",
        "from": first,
        "to": second,
        "relationship_type": "mentor",
        **more,
    }


def reasons(report: LoadReport) -> dict[int, str]:
    return {problem.line: problem.reason for problem in report.problems}


async def test_nodes_and_relationships_are_stored_as_the_lines_say(
    load: Load, graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder, clock: Clock
) -> None:
    report = await load(
        person(
            "Ruth",
            description="Engineer.",
            notes=["Keeps bees."],
            properties={"is_owner": True, "age": 61},
        ),
        person("Ines", aliases=["Nessa", "ines"], created_at="2020-02-03T04:05:06Z"),
        relation(
            "ruth",
            "ines",
            description="Her mentor.",
            attitude=5,
            proximity="known-well",
            notes=["Meets monthly."],
        ),
    )
    assert (report.nodes, report.relationships) == (LoadCounts(created=2), LoadCounts(created=1))
    assert (report.embedded, report.problems) == (3, ())
    stored = {node["name"]: node for node in await nodes_of(graph, user_id)}
    assert stored["Ruth"]["description"] == "Engineer."
    assert (stored["Ruth"]["is_owner"], stored["Ruth"]["age"]) == (True, 61)
    assert stored["Ines"]["aliases"] == ["Nessa"]
    assert str(stored["Ines"]["created_at"]).startswith("2020-02-03T04:05:06")
    [relationship] = await assert_embeddings_are_current(graph, user_id, embedder, clock.now)
    assert relationship["neo4j_type"] == "has_relationship_with"
    assert (relationship["attitude"], relationship["proximity"]) == (5, 4)
    [note] = json.loads(relationship["notes"])
    assert (note["content"], note["added_by"], note["expires_at"]) == (
        "Meets monthly.",
        user_id,
        None,
    )


async def test_a_graph_gets_no_second_owner(
    load: Load, graph: KnowledgeGraph, user_id: str
) -> None:
    owner = {"properties": {"is_owner": True}}
    first = await load(person("Ruth", **owner), person("Ines", **owner))
    [stored] = await nodes_of(graph, user_id)
    assert first.nodes == LoadCounts(created=1)
    [problem] = first.problems
    assert problem.line == 2
    assert problem.reason == (
        f"the node of line 1 ({stored['entity_key']}) is already the owner of this graph; give its "
        f"entity_key, "
        "or omit is_owner"
    )
    again = await load(person("Ruth", **owner), {**person("Ines", **owner), "label": "Concept"})
    assert (again.nodes, again.problems) == (LoadCounts(created=1, unchanged=1), ())
    second = await load(
        person("Zoe", **owner),
        {**person("Ruth Calder", **owner), "entity_key": stored["entity_key"]},
    )
    assert second.nodes == LoadCounts(updated=1)
    assert second.problems[0].reason.startswith(
        f"Ruth ({stored['entity_key']}) is already the owner"
    )


async def test_loading_again_changes_nothing_and_makes_no_embedding(
    load: Load, embedder: WatchedEmbedder
) -> None:
    lines = [
        person("Ruth", notes=["n"], properties={"age": 61}),
        {"kind": "node", "label": "Person", "name": "Nobody"},
        {"kind": "node", "label": "Concept", "id": "debt", "name": "Debt"},
        {
            "kind": "node",
            "label": "Source",
            "name": "Diary",
            "description": "d",
            "created_at": "2024-05-01T10:00:00Z",
        },
        relation(
            "ruth",
            "debt",
            attitude=2,
            notes=[{"content": "n", "date_added": "2025-12-31", "lifetime": "week"}],
        ),
    ]
    await load(*lines)
    embedder.forget()
    report = await load(*lines)
    assert (report.nodes, report.relationships, report.embedded) == (
        LoadCounts(unchanged=4),
        LoadCounts(unchanged=1),
        0,
    )
    assert not report.changed
    assert embedder.calls == 0


async def test_a_changed_line_changes_its_record_alone_and_null_removes_a_property(
    load: Load, graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder
) -> None:
    await load(
        person("Ruth", properties={"age": 61}),
        person("Ines"),
        relation("ruth", "ines", description="Old.", attitude=3),
    )
    embedder.forget()
    report = await load(
        person("Ruth", properties={"age": None}),
        person("Ines"),
        relation("ruth", "ines", description="New."),
    )
    assert report.nodes == LoadCounts(unchanged=1, updated=1)
    assert report.relationships == LoadCounts(updated=1)
    assert len(embedder.stored) == 1
    stored = await the_relationship(graph, user_id)
    assert (stored["description"], stored["attitude"]) == ("New.", 3)
    assert not any("age" in node for node in await nodes_of(graph, user_id))


async def test_a_note_that_has_expired_since_is_not_added_again(
    load: Load, graph: KnowledgeGraph, user_id: str, clock: Clock
) -> None:
    note = {"content": "Ill this week.", "date_added": "2026-01-01T00:00:00Z", "lifetime": "week"}
    lines = [person("Ruth", notes=[note]), person("Ines"), relation("ruth", "ines", notes=[note])]
    await load(*lines)
    clock.forward(days=30)
    await load(*lines)
    again = await load(*lines)
    assert not again.changed
    assert note_contents(await the_relationship(graph, user_id)) == ["Ill this week."]


async def test_ends_and_sources_may_be_keys_of_the_graph_or_ids_of_the_file(
    load: Load, graph: KnowledgeGraph, user_id: str
) -> None:
    key, times = str(uuid.uuid4()), {"when": "2022-05", "said_on": "2022-04-21"}
    await load({"kind": "node", "label": "Person", "name": "Ruth", "entity_key": key})
    diary = {"kind": "node", "label": "Source", "id": "diary", "name": "Diary", "description": "d"}
    report = await load(
        person("Ines"),
        diary,
        relation(key, "ines", notes=[{"content": "n", "source_entity_key": "diary", **times}]),
    )
    assert (report.relationships, report.problems) == (LoadCounts(created=1), ())
    stored = await the_relationship(graph, user_id)
    [source] = [
        node["entity_key"] for node in await nodes_of(graph, user_id) if node["name"] == "Diary"
    ]
    [note] = json.loads(stored["notes"])
    assert note["source_entity_key"] == source
    assert {name: note[name] for name in times} == times


async def test_bad_lines_are_reported_with_number_and_reason_and_good_ones_are_kept(
    load: Load,
) -> None:
    report = await load(
        person("Ruth"),
        '{"kind": "node"',
        "",
        person("Ines", colour="red"),
        {"kind": "node", "label": "Persn", "name": "x"},
        relation("ruth", "ghost"),
        relation("ruth", "ruth"),
        relation("ruth", "callum", attitude=7),
        relation("ruth", "callum", attitude="lukewarm"),
        relation("ruth", "callum", neo4j_type="nope"),
        person("Callum"),
        person("Callum"),
        relation("ruth", "callum"),
        person("Bea", notes=[{"content": "n", "date_added": "2026-01-01", "lifetime": "aeon"}]),
        relation("ruth", "bea"),
        "[]",
        "[" * 100_000,
        person("Dan", properties={"user_id": 1}),
        person("Dan", properties={"a": [1]}),
        person("Dan", source_text="Dan said so."),
    )
    assert (report.nodes, report.relationships) == (LoadCounts(created=2), LoadCounts(created=1))
    found = reasons(report)
    assert sorted(found) == [2, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 17, 18, 19, 20]
    assert found[2].startswith("not JSON")
    assert found[4] == "unknown field colour"
    assert found[5].startswith("Unknown label: Persn")
    assert found[6].startswith(
        "Node not found: ghost; `from` and `to` must be the id of a valid line"
    )
    assert found[7].startswith("A relationship joins two different nodes")
    assert found[8].startswith("Attitude/proximity must be 1-5, got attitude 7")
    assert found[9].startswith('Invalid word "lukewarm"')
    assert found[10].startswith("Unsupported relationship type: nope")
    assert found[12] == "id 'callum' is already used on line 11"
    assert found[14].startswith("lifetime must be one of week, month")
    assert found[15].startswith("Node not found: bea")
    assert found[16] == "not a JSON object"
    assert found[20] == "source_text is the text of a source, got label Person"
    assert found[17].startswith("not JSON: recursion limit exceeded")
    assert "the name is reserved" in found[18]
    assert found[19].startswith("properties.a must be text or true or false or a whole number")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (json.dumps(person("Ruth")).encode("utf-16"), "is UTF-16; save it as UTF-8"),
        (b'{"kind": "caf\xe9"}', "line 1: not UTF-8: byte 0xe9 at column 14"),
        (b"Ruth\nInes\n", "line 1: not JSON: .*`kgagent import` reads what"),
        (b'{"kind": "header"}', 'line 1: kind must be "node" or "relationship"'),
    ],
)
async def test_a_file_of_another_format_is_one_error(
    graph: KnowledgeGraph, user_id: str, tmp_path: Path, content: bytes, problem: str
) -> None:
    file = tmp_path / "people.jsonl"
    file.write_bytes(content)
    with pytest.raises(InputError, match=problem):
        await graph.load(file, user_id=user_id)


async def test_an_id_of_another_file_does_not_turn_one_person_into_another(
    load: Load, graph: KnowledgeGraph, user_id: str
) -> None:
    await load(person("Ruth", id="p1"), person("Ines", id="p2"))
    report = await load(person("Tomasz", id="p1"), person("Callum"), relation("p1", "callum"))
    found = reasons(report)
    assert found[1].startswith("id 'p1' was loaded as 'Ruth' before, and this line says 'Tomasz'")
    assert found[3].startswith("Node not found: p1")
    assert {node["name"] for node in await nodes_of(graph, user_id)} == {"Ruth", "Ines", "Callum"}


async def test_users_may_load_the_same_file_and_their_nodes_are_not_connected(
    load: Load, graph: KnowledgeGraph, user_id: str
) -> None:
    key, other = str(uuid.uuid4()), f"user-{uuid.uuid4()}"
    line = {"kind": "node", "label": "Person", "name": "Ruth", "entity_key": key}
    await load(line, user=other)
    report = await load(relation("ines", key), person("Ines"))
    assert reasons(report)[1].startswith(f"Node not found: {key}")
    for user in (user_id, other):
        report = await load(relation("ines", key), line, person("Ines"), user=user)
        assert (report.relationships, report.problems) == (LoadCounts(created=1), ())
        assert len(await relationships_of(graph, user)) == 1
    wrong = await load({**line, "label": "Entity"}, person("Ines"))
    assert reasons(wrong) == {1: f"{key} is a Person in the graph and cannot become a Entity"}


async def test_concurrent_batches_write_everything_once(
    load: Load, graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder, clock: Clock
) -> None:
    people = [person(f"P{i}") for i in range(40)]
    pairs = [
        relation(f"p{i}", f"p{(i + step) % 40}", description=f"{i}-{step}")
        for step in (1, 2, 39)
        for i in range(40)
    ]
    report = await load(*people, *pairs, batch_size=7, concurrency=4)
    assert (report.nodes, report.relationships) == (
        LoadCounts(created=40),
        LoadCounts(created=80, updated=40),
    )
    stored = await assert_embeddings_are_current(graph, user_id, embedder, clock.now)
    assert len(stored) == 80
    assert all(relationship["version"] <= 2 for relationship in stored)


async def test_a_failing_embedder_stops_the_load_and_the_next_load_continues(
    load: Load, embedder: WatchedEmbedder
) -> None:
    lines = [
        *(person(f"P{i}") for i in range(20)),
        *(relation(f"p{i}", f"p{i + 1}") for i in range(19)),
    ]
    await load(*lines[:20], *lines[20:26], batch_size=10)
    assert sorted(len(request) for request in embedder.stored) == [1, 10, 10]
    embedder.failure = EmbeddingUnavailableError("the model sleeps.")
    with pytest.raises(
        EmbeddingUnavailableError,
        match=r"^the model sleeps\. 20 of 39 lines are loaded; load lines\.jsonl again to continue$",
    ):
        await load(*lines, batch_size=10, concurrency=1)
    embedder.failure = None
    embedder.forget()
    report = await load(*lines, batch_size=10)
    assert (report.nodes, report.relationships) == (
        LoadCounts(unchanged=20),
        LoadCounts(created=13, unchanged=6),
    )
    assert sum(len(request) for request in embedder.stored) == 2


@pytest.mark.parametrize("options", [{"batch_size": 0}, {"concurrency": 0}, {"user": ""}])
async def test_invalid_arguments_are_rejected(load: Load, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="must"):
        await load(person("Ruth"), **options)


@pytest.mark.parametrize("name", ["a\x00b", "x" * 501, "\u200b"])
async def test_a_file_and_create_node_refuse_the_same_names(
    name: str, graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    lines = [
        {"kind": "node", "label": "Person", "name": name},
        {"kind": "node", "label": "Person", "name": "Ada"},
    ]
    file = tmp_path / "names.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    [problem] = (await graph.load(file, user_id=user_id)).problems
    refused = error_of(await graph.tools(user_id=user_id).create_node(label="Person", name=name))
    assert problem.reason in refused
