"""Invariant 4: no stored vector, however wrong, breaks a search or is taken for a right one."""

import json
from collections.abc import Iterable
from typing import Any

import pytest

from kgagent import HybridSearchRequest, KnowledgeGraph
from kgagent.embedding.hashing import hash_embedding
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.crowd import plant_people, plant_relationships
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import succeeded
from tests.support.stored import assert_embeddings_are_current, cypher

QUERY = "the same words"
RIGHT = list(hash_embedding(QUERY, 384))
MODEL = {"embedding_model": "blake2b-words"}

WRONG: dict[str, dict[str, Any]] = {
    "missing": {},
    "an empty list": {"vector": []},
    "too short": {"vector": RIGHT[:64], **MODEL},
    "too long": {"vector": RIGHT * 2},
    "of another model": {"vector": RIGHT, "embedding_model": "another"},
    "of a model that is a number": {"vector": RIGHT, "embedding_model": 7},
    "a number": {"vector": 7},
    "a text": {"vector": "[0.1, 0.2]"},
    "texts": {"vector": ["0.1"] * 384, **MODEL},
    "truth values": {"vector": [True] * 384},
    "all zero": {"vector": [0.0] * 384},
    "all zero of the right model": {"vector": [0.0] * 384, **MODEL},
    "not a number": {"vector": [float("nan")] * 384},
    "not a number of the right model": {"vector": [float("nan")] * 384, **MODEL},
    "infinite": {"vector": [float("inf")] * 384},
    "too large": {"vector": [1e30] * 384},
    "far too large": {"vector": [1e300] * 384},
    "too small": {"vector": [1e-30] * 384},
}


def planted(field: str, wrong: dict[str, Any]) -> dict[str, Any]:
    return {field if name == "vector" else name: value for name, value in wrong.items()}


async def plant(graph: KnowledgeGraph, user_id: str, kinds: Iterable[str]) -> None:
    """A right relationship between two right people, and a person and a relationship for each wrong
    kind.
    """
    everyone = {"right": {"vector": RIGHT, **MODEL}} | {kind: WRONG[kind] for kind in kinds}
    rows = [
        {
            "key": f"{user_id}:{kind}",
            "node": {"name": kind, **planted("embedding", record)},
            "relationship": {
                "description": kind,
                "relationship_type": "x",
                **planted("relationship_embedding", record),
            },
        }
        for kind, record in everyone.items()
    ]
    await cypher(
        graph,
        "CREATE (hub:Person {entity_key: $user, user_id: $user}) WITH hub UNWIND $rows AS row "
        "CREATE (n:Person {entity_key: row.key, user_id: $user})<-[r:has_relationship_with "
        "{user_id: $user}]-(hub) "
        "SET n += row.node, r += row.relationship",
        user=user_id,
        rows=rows,
    )


async def test_an_invalid_vector_is_skipped(searched: KnowledgeGraph, user_id: str) -> None:
    await plant(searched, user_id, WRONG)
    search = searched.retrieval.relationship_vector_search
    for threshold in (-1.0, 0.5):
        for types in (None, ["x"]):
            assert [
                match.description
                for match in await search(
                    QUERY, threshold, user_id=user_id, relationship_types=types
                )
            ] == ["right"]
    nodes = await searched.retrieval.node_vector_search(QUERY, -1.0, user_id=user_id)
    assert [match.node.name for match in nodes] == ["right"]
    payload = succeeded(
        await searched.tools(user_id=user_id).explore(
            queries=[{"query": QUERY, "threshold": -1}, {"query": "same"}]
        )
    )
    assert [edge["description"] for edge in payload["edges"] if edge.get("similarity")] == ["right"]


async def test_an_invalid_vector_of_a_statement_is_skipped(
    searched: KnowledgeGraph, user_id: str
) -> None:
    """Ada has a note of each kind; each other person has one note."""
    everyone = {"right": {"vector": RIGHT, **MODEL}} | WRONG
    keys = {kind: f"{user_id}:{kind}" for kind in ("Ada", *everyone)}
    nodes = {kind: {"name": kind, "notes": json.dumps([{"content": kind}])} for kind in everyone}
    nodes["Ada"] = {"name": "Ada", "notes": json.dumps([{"content": kind} for kind in everyone])}
    entries = [
        {
            "record": keys[record],
            "from_entity_key": keys[record],
            "text": kind,
            **planted("embedding", wrong),
        }
        for kind, wrong in everyone.items()
        for record in ("Ada", kind)
    ]
    await cypher(
        searched,
        "UNWIND $nodes AS node CREATE (n:Person {user_id: $user, entity_key: node[0], "
        "statements_hash: 'planted'}) "
        "SET n += node[1] WITH count(*) AS made UNWIND $entries AS entry "
        "CREATE (e:KgagentStatement {user_id: $user, entity_key: entry.record + ' ' + entry.text}) "
        "SET e += entry",
        user=user_id,
        nodes=[[keys[kind], properties] for kind, properties in nodes.items()],
        entries=entries,
    )
    request = HybridSearchRequest(query="Ada", threshold=-1.0, limit=100)
    found = await searched.search(request, user_id=user_id, vector=RIGHT)
    assert {item.name for item in found.objects if "statement_vector" in item.found_by} == {
        "right",
        "Ada",
    }
    [ada] = [item for item in found.objects if item.name == "Ada"]
    assert "named_node" in ada.found_by
    similarities = {one.note.content: one.similarity for one in ada.statements if one.note}
    assert similarities.pop("right") == pytest.approx(1.0, abs=1e-5)
    assert similarities == dict.fromkeys(WRONG)
    assert not any(warning.startswith("Skipped") for warning in found.warnings)


async def test_a_valid_vector_of_an_unknown_model_is_compared(
    searched: KnowledgeGraph, user_id: str
) -> None:
    keys = await plant_people(searched, user_id, 2, embedding=RIGHT)
    properties = {"relationship_embedding": RIGHT}
    await plant_relationships(
        searched, user_id, [{"first": keys[0], "second": keys[1], "properties": properties}]
    )
    [found] = await searched.retrieval.relationship_vector_search(QUERY, 0.9, user_id=user_id)
    assert found.similarity == pytest.approx(1.0, abs=1e-5)
    assert len(await searched.retrieval.node_vector_search(QUERY, 0.9, user_id=user_id)) == 2


async def test_a_vector_of_integers_is_valid(searched: KnowledgeGraph, user_id: str) -> None:
    keys = await plant_people(searched, user_id, 2)
    properties = {"relationship_embedding": [1, 0, -1] * 128, **MODEL}
    await plant_relationships(
        searched, user_id, [{"first": keys[0], "second": keys[1], "properties": properties}]
    )
    [found] = await searched.retrieval.relationship_vector_search(
        threshold=0.9, user_id=user_id, vector=[1.0, 0.0, -1.0] * 128
    )
    assert found.similarity == pytest.approx(1.0, abs=1e-5)


async def test_many_foreign_vectors_hide_no_valid_one(
    searched: KnowledgeGraph, user_id: str
) -> None:
    keys = await plant_people(searched, user_id, 81)
    foreign = {"relationship_embedding": RIGHT, "embedding_model": "another"}
    farther = {
        "relationship_embedding": list(hash_embedding("the same", 384)),
        "description": "right",
        **MODEL,
    }
    rows = [{"first": keys[0], "second": key, "properties": foreign} for key in keys[1:-1]]
    rows.append({"first": keys[0], "second": keys[-1], "properties": farther})
    await plant_relationships(searched, user_id, rows)
    found = await searched.retrieval.relationship_vector_search(
        QUERY, 0.1, user_id=user_id, limit=2
    )
    assert [match.description for match in found] == ["right"]


async def test_the_next_write_fixes_an_invalid_vector(
    graph: KnowledgeGraph, tools: Toolset, embedder: WatchedEmbedder, user_id: str, clock: Clock
) -> None:
    await plant(graph, user_id, WRONG)
    changes = [
        {"from": user_id, "to": f"{user_id}:{kind}", "description": "written"} for kind in WRONG
    ]
    payload = succeeded(await tools.remember(relationships=changes))
    assert payload["embeddings"] == len(WRONG)
    found = await graph.retrieval.relationship_vector_search(
        "written", 0.5, user_id=user_id, limit=100
    )
    assert len(found) == len(WRONG)
    for kind in WRONG:
        succeeded(await tools.update_node(entity_key=f"{user_id}:{kind}", description="written"))
    await tools.update_relationship(
        from_entity_key=user_id, to_entity_key=f"{user_id}:right", description="written"
    )
    succeeded(await tools.update_node(entity_key=f"{user_id}:right", description="written"))
    succeeded(await tools.update_node(entity_key=user_id, description="written"))
    await assert_embeddings_are_current(graph, user_id, embedder, clock())
