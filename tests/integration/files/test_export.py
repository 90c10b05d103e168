"""What export writes: each record of the user once and whole, in an order and a form that its
content determines.
"""

import asyncio
import hashlib
import json
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from kgagent import InputError, KnowledgeGraph
from kgagent.files.export import all_users, export_records
from kgagent.graph.schema_parts import DELETED_NODE, DELETED_RELATIONSHIP
from kgagent.knowledge_graph import services_of
from kgagent.progress import Advance, SilentProgress
from tests.integration.files.exported_files import content_of, header_of, lines_of
from tests.support.payloads import succeeded
from tests.support.people import two_friends
from tests.support.stored import cypher

pytestmark = pytest.mark.neo4j_5


class Failing(SilentProgress):
    """Fails once something has been written."""

    @contextmanager
    def task(self, description: str, total: int | None = None) -> Iterator[Advance]:  # noqa: ARG002
        def fail(_units: int) -> None:
            raise RuntimeError("stopped")

        yield fail


def mode_of(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


async def test_a_file_has_every_record_of_the_user_between_header_and_footer(
    graph: KnowledgeGraph, lasting: str, file: Path
) -> None:
    report = await graph.export(file, user_id=lasting)
    head, *_, foot = content_of(file).splitlines(keepends=True)
    header, footer = json.loads(head), json.loads(foot)
    assert header == {
        "kind": "header",
        "format": "kgagent-export",
        "format_version": 1,
        "user_id": lasting,
    }
    assert (
        footer["sha256"]
        == hashlib.sha256(content_of(file).removesuffix(foot)).hexdigest()
        == report.sha256
    )
    kinds = Counter(line["kind"] for line in lines_of(file))
    assert kinds == {"node": 6, "relationship": 7, "deleted": 5}
    assert (footer["nodes"], footer["relationships"], footer["deleted"]) == (6, 7, 5)
    assert str(report) == "6 nodes, 7 relationships and 5 deleted records of 1 user exported"
    labels = Counter(line["label"] for line in lines_of(file) if line["kind"] == "deleted")
    assert labels == {DELETED_NODE: 2, DELETED_RELATIONSHIP: 3}
    assert {line["user_id"] for line in lines_of(file)} == {lasting}
    assert mode_of(file) == 0o600
    assert list(file.parent.iterdir()) == [file]


async def test_values_are_json_or_name_their_type(
    graph: KnowledgeGraph, lasting: str, file: Path
) -> None:
    await graph.export(file, user_id=lasting)
    [stored] = [line["properties"] for line in lines_of(file) if "Extra" in line.get("labels", ())]
    assert stored["odd"] == 9007199254740993
    assert (stored["small"], stored["whole"], stored["nan"]) == (7, 3.0, {"$float": "NaN"})
    assert stored["late"] == {"$date": "+12345-01-01"}
    assert stored["summer"] == {"$datetime": "2024-10-27T02:30:00+02:00[Europe/Berlin]"}
    assert stored["duration"] == {"$duration": [-14, 3, -4, -499999999]}
    assert stored["place"] == {"$point": [4979, 2.0, 1.5, 3.0]}
    assert stored["embedding"].keys() == {"$float32"}
    assert stored["description_embedding"] == [0.1]


async def test_a_file_without_embeddings_has_none(
    graph: KnowledgeGraph, lasting: str, file: Path
) -> None:
    await graph.export(file, user_id=lasting, embeddings=False)
    assert not [
        name for line in lines_of(file) for name in line["properties"] if "embedding" in name
    ]


async def test_the_size_of_the_pages_does_not_change_the_file(
    graph: KnowledgeGraph, lasting: str, file: Path
) -> None:
    await graph.export(file, user_id=lasting)
    whole = content_of(file)
    await graph.export(file, user_id=lasting, batch_size=3)
    assert content_of(file) == whole


async def test_no_file_has_records_of_another_user(
    graph: KnowledgeGraph, planted: str, file: Path
) -> None:
    other = graph.tools(user_id=f"{planted}-other")
    ends = await two_friends(other)
    await cypher(
        graph,
        "MATCH (a:Person {user_id: $user, name: 'Ruth'}), (b:Person {user_id: $other, entity_key: "
        "$key}) "
        "CREATE (a)-[:has_relationship_with {user_id: $user}]->(b), (b)-[:has_relationship_with "
        "{user_id: $user}]->(a)",
        user=planted,
        other=other.user_id,
        key=ends["from_entity_key"],
    )
    await cypher(graph, "CREATE (:Person {user_id: $user, name: 'Nobody'})", user=planted)
    await cypher(
        graph,
        "MATCH (a:Person {user_id: $user, name: 'Ruth'}), (b:Person {user_id: $user, name: 'Cal'}) "
        "CREATE (a)-[:has_relationship_with {user_id: $other}]->(b)",
        user=planted,
        other=other.user_id,
    )
    report = await graph.export(file, user_id=planted)
    assert (report.nodes, report.relationships, report.skipped) == (6, 7, 3)
    assert other.user_id not in content_of(file).decode()


async def test_an_export_of_several_users_has_the_records_of_each(
    graph: KnowledgeGraph, planted: str, file: Path
) -> None:
    other = graph.tools(user_id=f"{planted}-other")
    await two_friends(other)
    services = services_of(graph)
    found = await all_users(services)
    assert found == sorted(found)
    users = [planted, other.user_id]
    assert set(users) <= set(found)
    report = await export_records(file, services, users=users)
    assert report.users == 2
    assert header_of(file)["user_id"] is None
    counts = Counter((line["user_id"], line["kind"]) for line in lines_of(file))
    assert (counts[planted, "node"], counts[planted, "deleted"]) == (6, 5)
    assert (counts[other.user_id, "node"], counts[other.user_id, "relationship"]) == (2, 1)


async def test_records_are_exported_whole_beside_writers(
    graph: KnowledgeGraph, user_id: str, file: Path
) -> None:
    tools = graph.tools(user_id=user_id)
    ends = await two_friends(tools)
    keep_writing = True

    async def write() -> None:
        number = 0
        while keep_writing:
            number += 1
            succeeded(
                await tools.update_relationship(
                    **ends, description=f"text {number}", attitude=1 + number % 5
                )
            )

    writing = asyncio.create_task(write())
    exported = []
    for _ in range(5):
        await graph.export(file, user_id=user_id)
        exported += [
            line["properties"] for line in lines_of(file) if line["kind"] == "relationship"
        ]
    keep_writing = False
    await writing
    assert len(exported) == 5
    for stored in exported:
        number = int(stored["description"].split()[1]) if stored["description"] else 0
        assert stored["version"] == number + 1
        assert number == 0 or stored["attitude"] == 1 + number % 5
    assert all(one["version"] <= other["version"] for one, other in pairwise(exported))


async def test_a_failed_export_leaves_the_old_file(
    graph: KnowledgeGraph, lasting: str, file: Path
) -> None:
    await graph.export(file, user_id=lasting)
    before = content_of(file)
    with pytest.raises(RuntimeError, match="stopped"):
        await graph.export(file, user_id=lasting, embeddings=False, progress=Failing())
    assert content_of(file) == before
    assert list(file.parent.iterdir()) == [file]


async def test_a_file_that_cannot_be_written_is_an_error(
    graph: KnowledgeGraph, user_id: str, file: Path
) -> None:
    with pytest.raises(InputError, match="cannot be written: No such file or directory"):
        await graph.export(file.parent / "none" / "file", user_id=user_id)
