"""Importing what export wrote gives the same graph, once, whatever happens in between; any other
file is refused.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgagent import EmbeddingUnavailableError, ImportCounts, InputError, KnowledgeGraph
from kgagent.knowledge_graph import services_of
from tests.conftest import Clock
from tests.integration.files.exported_files import content_of, lines_of, rewrite
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import succeeded
from tests.support.people import node
from tests.support.stored import assert_embeddings_are_current, cypher, nodes_of, relationships_of
from tests.support.varied_graph import forget_by_hand, snapshot

pytestmark = pytest.mark.neo4j_5


def with_embedder(graph: KnowledgeGraph, embedder: WatchedEmbedder, clock: Clock) -> KnowledgeGraph:
    return KnowledgeGraph(
        services_of(graph).store, graph.ontology, embedder, graph.settings, clock=clock
    )


async def test_a_graph_comes_back_exactly_and_a_second_import_changes_nothing(
    graph: KnowledgeGraph, planted: str, file: Path, clock: Clock
) -> None:
    before = await snapshot(graph, planted)
    await graph.export(file, user_id=planted)
    exported = content_of(file)
    await forget_by_hand(graph, planted)
    clock.forward(days=1)
    report = await graph.import_records(file, batch_size=3)
    assert await snapshot(graph, planted) == before
    created = (report.nodes.created, report.relationships.created, report.deleted.created)
    assert (created, report.embedded, report.conflicts) == ((6, 7, 5), 0, ())
    await graph.export(file, user_id=planted)
    assert content_of(file) == exported
    again = await graph.import_records(file)
    assert (again.nodes, again.relationships, again.deleted) == (
        ImportCounts(unchanged=6),
        ImportCounts(unchanged=7),
        ImportCounts(unchanged=5),
    )
    assert str(again) == (
        "0 nodes, 0 relationships and 0 deleted records created, 0 overwritten, 18 unchanged, 0 in "
        "conflict"
    )
    assert await snapshot(graph, planted) == before


async def test_records_that_differ_are_reported_with_their_keys_and_overwritten_only_if_asked(
    graph: KnowledgeGraph, planted: str, file: Path
) -> None:
    await graph.export(file, user_id=planted)
    before = await snapshot(graph, planted)
    tools = graph.tools(user_id=planted)
    keys = {one["name"]: one["entity_key"] for one in await nodes_of(graph, planted)}
    ruth, cal = keys["Ruth"], keys["Cal"]
    succeeded(await tools.update_node(entity_key=cal, description="Changed"))
    succeeded(
        await tools.update_relationship(
            from_entity_key=ruth, to_entity_key=cal, description="Changed"
        )
    )
    changed = await snapshot(graph, planted)
    report = await graph.import_records(file)
    assert (report.nodes.conflicts, report.relationships.conflicts, report.conflict_count) == (
        1,
        1,
        2,
    )
    found = [conflict.record for conflict in report.conflicts]
    assert found[0] == f"Person {cal}"
    assert found[1].startswith("has_relationship_with ")
    assert {ruth, cal} <= set(found[1].split())
    assert str(report.conflicts[0]).endswith(
        "the graph has another one with this key; overwrite replaces it"
    )
    assert await snapshot(graph, planted) == changed
    report = await graph.import_records(file, overwrite=True)
    assert (report.nodes.overwritten, report.relationships.overwritten, report.conflict_count) == (
        1,
        1,
        0,
    )
    assert without_versions(await snapshot(graph, planted)) == without_versions(before)
    versions = {one["name"]: one["version"] for one in await nodes_of(graph, planted)}
    assert versions["Cal"] == 3
    assert (await graph.import_records(file, overwrite=True)).nodes == ImportCounts(unchanged=6)


def without_versions(found: list[Any]) -> list[str]:
    parts = (part for line in found for part in [line.split("['version', 'INTEGER NOT NULL', ")])
    return [part[0] + part[-1].partition("]")[2] for part in parts]


async def test_records_of_another_model_are_embedded_again(
    graph: KnowledgeGraph, planted: str, file: Path, clock: Clock
) -> None:
    await graph.export(file, user_id=planted)
    await forget_by_hand(graph, planted)
    embedder = WatchedEmbedder(model="another")
    other = with_embedder(graph, embedder, clock)
    report = await other.import_records(file)
    assert report.embedded == 11
    await cypher(
        graph,
        "MATCH (:Person {user_id: $user})-[r:SEEN_BY_ANOTHER_PROGRAM]->() DELETE r",
        user=planted,
    )
    await remove_odd_values(graph, planted)
    await assert_embeddings_are_current(other, planted, embedder, clock.now)
    tools = other.tools(user_id=planted)
    assert succeeded(await tools.restore(entity_key="Gone"))["relationships_restored"] == 2
    await assert_embeddings_are_current(other, planted, embedder, clock.now)


async def remove_odd_values(graph: KnowledgeGraph, user_id: str) -> None:
    """The embeddings of old graphs, which an import leaves as they are."""
    await cypher(
        graph,
        "MATCH (n:Person {user_id: $user})-[r]-() "
        "REMOVE r.notes_embedding, r.description_embedding, n.notes_embedding, "
        "n.description_embedding",
        user=user_id,
    )


async def test_a_file_without_embeddings_gets_new_ones_and_stays_the_same(
    graph: KnowledgeGraph, planted: str, file: Path
) -> None:
    await graph.export(file, user_id=planted, embeddings=False)
    exported = content_of(file)
    await forget_by_hand(graph, planted)
    assert (await graph.import_records(file)).embedded == 11
    assert (await graph.import_records(file)).embedded == 0
    await graph.export(file, user_id=planted, embeddings=False)
    assert content_of(file) == exported


async def test_a_failing_embedder_stops_the_import_and_the_next_one_continues(
    graph: KnowledgeGraph, planted: str, file: Path, clock: Clock
) -> None:
    await graph.export(file, user_id=planted, embeddings=False)
    await forget_by_hand(graph, planted)
    embedder = WatchedEmbedder()
    other = with_embedder(graph, embedder, clock)
    embedder.failure = EmbeddingUnavailableError("the model sleeps.")
    with pytest.raises(
        EmbeddingUnavailableError,
        match=r"the model sleeps\. 0 of 18 lines are imported; import rec",
    ):
        await other.import_records(file)
    embedder.failure = None
    assert (await other.import_records(file)).nodes.created == 6


def cut(content: bytes) -> bytes:
    return content[: content.rindex(b"\n", 0, -1) + 1]


def change_a_letter(content: bytes) -> bytes:
    return content.replace(b"Met in Rome", b"Met in Nome", 1)


def another_version(content: bytes) -> bytes:
    return content.replace(b'"format_version":1', b'"format_version":2', 1)


def rehashed(change: Callable[[list[Any]], None]) -> Callable[[bytes], bytes]:
    """A change of the records by somebody who knows how to hash."""

    def run(content: bytes) -> bytes:
        lines = [json.loads(line) for line in content.splitlines()]
        change(lines)
        body = b"".join(json.dumps(line).encode() + b"\n" for line in lines[:-1])
        lines[-1]["sha256"] = hashlib.sha256(body).hexdigest()
        return body + json.dumps(lines[-1], sort_keys=True, separators=(",", ":")).encode() + b"\n"

    return run


def user_of(file: Path) -> str:
    """The user whom a file names."""
    return str(json.loads(file.read_bytes().splitlines()[0])["user_id"])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut, "ends without its footer: it was cut off"),
        (change_a_letter, "was changed after it was exported"),
        (another_version, "has format_version 2, but this kgagent reads 1"),
        (
            lambda content: content.replace(b"kgagent-export", b"x", 1),
            "is not a file that `kgagent export` wrote",
        ),
        (lambda _content: b"", "is empty"),
        (rehashed(lambda lines: lines[1].pop("labels")), "line 2: "),
        (
            rehashed(lambda lines: lines[1].update(labels=["Alien"])),
            "line 2: the ontology has none of the labels 'Alien'",
        ),
        (
            rehashed(lambda lines: lines[1]["properties"].update(user_id="mallory")),
            "line 2: the record of user .* names 'mallory'",
        ),
        (
            rehashed(lambda lines: lines[1]["properties"].update(odd={"$bytes": "%"})),
            "line 2: property 'odd' is not a value that export writes",
        ),
    ],
)
async def test_a_file_that_is_not_as_it_was_written_is_refused_before_anything_is_written(
    graph: KnowledgeGraph, exported: Path, damage: Callable[[bytes], bytes], message: str
) -> None:
    user = user_of(exported)
    await forget_by_hand(graph, user)
    rewrite(exported, damage)
    with pytest.raises(InputError, match=message):
        await graph.import_records(exported)
    assert await nodes_of(graph, user) == []


async def test_a_file_of_another_user_or_of_several_is_refused(
    graph: KnowledgeGraph, exported: Path
) -> None:
    user = user_of(exported)
    await forget_by_hand(graph, user)
    with pytest.raises(InputError, match=f"has the records of {user!r}, not of 'someone'"):
        await graph.import_records(exported, user_id="someone")
    rewrite(exported, rehashed(lambda lines: lines[0].update(user_id=None)))
    with pytest.raises(InputError, match=f"has the records of several users, not of {user!r}"):
        await graph.import_records(exported, user_id=user)
    assert await nodes_of(graph, user) == []


async def test_a_relationship_whose_node_is_missing_is_a_conflict(
    graph: KnowledgeGraph, planted: str, file: Path
) -> None:
    await graph.export(file, user_id=planted)
    rewrite(file, rehashed(lambda lines: lines[7].update(end=["Person", "nobody"])))
    await forget_by_hand(graph, planted)
    report = await graph.import_records(file)
    assert (report.relationships.created, report.relationships.conflicts) == (6, 1)
    assert str(report.conflicts[0]).startswith("line 8: ")
    assert report.conflicts[0].reason == "the node nobody does not exist"


async def test_a_relationship_in_the_other_direction_is_not_overwritten(
    graph: KnowledgeGraph, planted: str, file: Path
) -> None:
    await graph.export(file, user_id=planted)
    [line] = [one for one in lines_of(file) if one.get("neo4j_type") == "associated_with"]
    await cypher(
        graph,
        "MATCH (a:Person {user_id: $user})-[r:associated_with]->(b:Entity {user_id: $user}) "
        "CREATE (b)-[s:associated_with]->(a) WITH r, s, properties(r) AS kept DELETE r SET s = "
        "kept",
        user=planted,
    )
    report = await graph.import_records(file, overwrite=True)
    [conflict] = report.conflicts
    assert conflict.record == f"associated_with {line['start'][1]} -> {line['end'][1]}"
    assert conflict.reason == "the graph has it in the opposite direction"


async def test_an_old_relationship_without_a_key_is_not_added_to_one_that_has_a_key(
    graph: KnowledgeGraph, planted: str, file: Path
) -> None:
    await graph.export(file, user_id=planted)

    def make_old(lines: list[Any]) -> None:
        [old] = [line for line in lines if line.get("neo4j_type") == "associated_with"]
        del old["properties"]["relationship_key"]

    rewrite(file, rehashed(make_old))
    report = await graph.import_records(file)
    assert [one.reason for one in report.conflicts] == [
        "the two nodes have a relationship of the type already"
    ]
    await forget_by_hand(graph, planted)
    for counts in (ImportCounts(created=7), ImportCounts(unchanged=7)):
        assert (await graph.import_records(file)).relationships == counts


async def test_an_overwritten_record_gets_a_version_higher_than_both(
    graph: KnowledgeGraph, planted: str, file: Path
) -> None:
    await graph.export(file, user_id=planted)

    def change_versions(lines: list[Any]) -> None:
        for line in lines:
            if line["kind"] in {"node", "relationship"} and "version" in line["properties"]:
                line["properties"].update(version=7, description="Of the file")
                if line["properties"].get("name") == "Cal":
                    del line["properties"]["version"]

    rewrite(file, rehashed(change_versions))
    await cypher(
        graph,
        "MATCH (n:Person {user_id: $user}) WHERE n.name <> 'Ruth' REMOVE n.version",
        user=planted,
    )
    await cypher(
        graph,
        "MATCH (:Person {user_id: $user})-[r:has_relationship_with]->() REMOVE r.version",
        user=planted,
    )
    await graph.import_records(file, overwrite=True)
    versions = {one["name"]: one["version"] for one in await nodes_of(graph, planted)}
    assert (versions["Ruth"], versions["Ines"], versions["Cal"]) == (8, 8, 1)
    assert {
        one["version"]
        for one in await relationships_of(graph, planted)
        if "relationship_key" in one
    } == {8}
    again = await graph.import_records(file, overwrite=True)
    assert (again.nodes, again.relationships) == (
        ImportCounts(unchanged=6),
        ImportCounts(unchanged=7),
    )


async def test_a_graph_keeps_its_one_owner(graph: KnowledgeGraph, user_id: str, file: Path) -> None:
    tools = graph.tools(user_id=user_id)
    succeeded(await tools.create_node(label="Person", name="Ada", is_owner=True))
    await node(tools, "Person", "Bo")
    await graph.export(file, user_id=user_id)
    assert (await graph.import_records(file, overwrite=True)).nodes == ImportCounts(unchanged=2)
    await forget_by_hand(graph, user_id)
    succeeded(await tools.create_node(label="Person", name="Cleo", is_owner=True))
    report = await graph.import_records(file, overwrite=True)
    assert report.nodes == ImportCounts(created=1, conflicts=1)
    assert [one.reason for one in report.conflicts] == ["the graph has another owner"]
    owners = [one["name"] for one in await nodes_of(graph, user_id) if one.get("is_owner")]
    assert owners == ["Cleo"]


async def test_a_record_that_the_database_refuses_is_a_conflict_and_the_rest_is_imported(
    graph: KnowledgeGraph, user_id: str, file: Path
) -> None:
    tools = graph.tools(user_id=user_id)
    for name in ("Ada", "Bo", "Cleo"):
        await node(tools, "Person", name)
    await graph.export(file, user_id=user_id)
    first, second = list(graph.ontology.labels)[:2]

    def break_two(lines: list[Any]) -> None:
        lines[1]["labels"] = [first, second]
        lines[1]["properties"]["entity_key"] = "shared"
        lines[3]["properties"]["at"] = {"$datetime": "2024-01-01T00:00:00+01:00[Nowhere/Nothing]"}

    rewrite(file, rehashed(break_two))
    await forget_by_hand(graph, user_id)
    await cypher(
        graph, f"CREATE (:{second} {{user_id: $user, entity_key: 'shared'}})", user=user_id
    )
    report = await graph.import_records(file)
    assert report.nodes == ImportCounts(created=1, conflicts=2)
    assert [one.line for one in report.conflicts] == [2, 4]
    assert "uniqueness constraint" in report.conflicts[0].reason
    assert "refused the statement" in report.conflicts[1].reason
