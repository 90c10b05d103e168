"""Keys are unique for each user: records of two users with equal keys do not touch each other."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import error_of, succeeded
from tests.support.people import node
from tests.support.stored import all_of, assert_embeddings_are_current, nodes_of

pytestmark = pytest.mark.neo4j_5

Line = dict[str, Any]


@pytest.fixture
def other_id(user_id: str) -> str:
    """A user whose keys can equal those of the first: "acme" of "u" + x has the key of "acmeu" of
    x.
    """
    return f"u{user_id}"


@pytest.fixture
def keys(user_id: str) -> list[str]:
    """Keys of two people and an entity, the same for both users."""
    return [
        hashlib.sha256(f"{name}{user_id}".encode()).hexdigest()
        for name in ("ada", "bo", "chess club")
    ]


@pytest.fixture
async def both(
    graph: KnowledgeGraph, user_id: str, other_id: str, keys: list[str], tmp_path: Path
) -> None:
    """The same keys in the graphs of both users; all that is the other's is secret."""
    await load(graph, user_id, lines(keys, ("Ada", "Bo", "Chess club"), "open"), tmp_path)
    await load(
        graph,
        other_id,
        lines(keys, ("Zed secret", "Yan secret", "Secret club"), "secret"),
        tmp_path,
    )


def lines(keys: list[str], names: tuple[str, str, str], word: str) -> list[Line]:
    labels = ("Person", "Person", "Entity")
    nodes = [
        {
            "kind": "node",
            "label": label,
            "name": name,
            "entity_key": key,
            "description": word,
            "notes": [f"{word} note"],
        }
        for label, name, key in zip(labels, names, keys, strict=True)
    ]
    ends = {"kind": "relationship", "from": keys[0]}
    joined = {
        "relationship_type": f"{word} tie",
        "description": word,
        "notes": [f"{word} tie note"],
    }
    return [*nodes, {**ends, "to": keys[1], **joined}, {**ends, "to": keys[2], **joined}]


async def load(graph: KnowledgeGraph, user_id: str, wanted: list[Line], folder: Path) -> None:
    path = folder / "lines.jsonl"
    path.write_text("\n".join(map(json.dumps, wanted)), "utf-8")
    report = await graph.load(path, user_id=user_id)
    assert report.problems == ()


async def test_a_name_does_not_take_the_key_of_another_users_name(
    graph: KnowledgeGraph,
    tools: Toolset,
    embedder: WatchedEmbedder,
    user_id: str,
    other_id: str,
    clock: Clock,
) -> None:
    first = await node(graph.tools(user_id=other_id), "Entity", "acme")
    embedder.forget()
    second = await node(tools, "Entity", "acmeu")
    assert first == second == hashlib.sha256(f"acmeu{user_id}".encode()).hexdigest()
    assert embedder.calls == 1
    for user, name in ((user_id, "acmeu"), (other_id, "acme")):
        assert [stored["name"] for stored in await nodes_of(graph, user)] == [name]
        await assert_embeddings_are_current(graph, user, embedder, clock())


async def test_a_second_node_of_a_key_in_one_user_is_an_error_at_once(
    tools: Toolset, embedder: WatchedEmbedder
) -> None:
    await node(tools, "Entity", "acmeconcept")
    embedder.forget()
    again = error_of(await tools.create_node(label="Entity", name="Acmeconcept"))
    assert "Entity 'acmeconcept' exists already" in again
    other_label = error_of(await tools.create_node(label="Concept", name="acme"))
    assert (
        other_label
        == "This Concept would have the key of the Entity 'acmeconcept'; choose another name"
    )
    assert embedder.calls == 0


@pytest.mark.usefixtures("both")
async def test_nothing_of_the_other_user_is_read_through_an_equal_key(
    tools: Toolset, keys: list[str]
) -> None:
    ada, bo, club = keys
    ends = {"from_entity_key": ada, "to_entity_key": bo}
    answers = [
        await tools.explore(
            queries=[{"query": "secret", "threshold": -1}], text_matches=["secret"], format="json"
        ),
        await tools.hybrid_search(query="secret tie"),
        await tools.get_relationship(**ends),
        await tools.get_relationship(from_entity_key=ada[:12], to_entity_key=club[:12]),
        await tools.traverse(entity_key=ada, hops=2),
        await tools.traverse(entity_key=bo[:8], hops=1),
        await tools.find_paths(from_entity_key=bo, to_entity_key=club),
        await tools.describe_graph(),
        await tools.query_patterns(
            patterns=[
                {
                    "steps": [
                        {
                            "source_label": "Person",
                            "relation_type": "has_relationship_with",
                            "target_label": "Person",
                            "direction": "BOTH",
                        }
                    ]
                }
            ],
            targets=[{"entity_key": ada}],
        ),
    ]
    for answer in answers:
        assert answer["success"] is True, answer
        assert "secret" not in json.dumps(answer).lower().replace('"secret"', "").replace(
            '"secret tie"', ""
        )
    assert all(
        "open" in json.dumps(answer) or "Ada" in json.dumps(answer) for answer in answers[:7]
    )


@pytest.mark.usefixtures("both")
async def test_nothing_of_the_other_user_is_written_through_an_equal_key(
    graph: KnowledgeGraph,
    tools: Toolset,
    embedder: WatchedEmbedder,
    user_id: str,
    other_id: str,
    keys: list[str],
    clock: Clock,
) -> None:
    ada, bo, club = keys
    ends = {"from_entity_key": ada, "to_entity_key": bo}
    before = await all_of(graph, other_id)
    source = await node(tools, "Source", "A letter", "From Rome")
    succeeded(await tools.update_node(entity_key=ada, description="Changed"))
    succeeded(await tools.update_relationship(**ends, attitude=5, description="Changed"))
    succeeded(await tools.add_note_to_relationship(**ends, content="New", source_entity_key=source))
    succeeded(await tools.update_note(**ends, note="New", content="Newer"))
    succeeded(await tools.delete_note(entity_key=bo, note="open note"))
    succeeded(await tools.delete_relationship(**ends))
    succeeded(await tools.restore(**ends))
    succeeded(await tools.delete_node(entity_key=bo, delete_relationships=True))
    succeeded(await tools.restore(entity_key=bo))
    succeeded(await tools.merge_nodes(keep_entity_key=ada, drop_entity_key=bo))
    succeeded(await tools.delete_node(entity_key=club, delete_relationships=True))
    assert await all_of(graph, other_id) == before
    assert {stored["entity_key"] for stored in await nodes_of(graph, user_id)} == {ada, source}
    for user in (user_id, other_id):
        await assert_embeddings_are_current(graph, user, embedder, clock())
