"""Invariant 3: whatever two users hold, no search of one gives anything of the other."""

import json
from typing import Any
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
from kgagent.tools import Payload
from tests.support.examples import examples
from tests.support.payloads import succeeded
from tests.support.stored import cosine, relationships_of

words = st.sampled_from(["chess", "mentor", "college", "row", "bake", "Rome"])
phrases = st.lists(words, min_size=1, max_size=4).map(" ".join)
graphs = st.lists(st.tuples(words, phrases, words), min_size=1, max_size=5)

Relationships = list[tuple[str, str, str]]


async def build(graph: KnowledgeGraph, user_id: str, relationships: Relationships) -> set[str]:
    tools = graph.tools(user_id=user_id)
    owner = succeeded(await tools.create_node(label="Person", name="Ada"))["entity_key"]
    items: list[dict[str, Any]] = []
    keys = {owner}
    for name, description, relationship_type in relationships:
        other = succeeded(
            await tools.create_node(label="Person", name=name, description=description)
        )["entity_key"]
        keys.add(other)
        items.append(
            {
                "from": owner,
                "to": other,
                "relationship_type": relationship_type,
                "description": description,
            }
        )
    succeeded(await tools.remember(relationships=items))
    return keys


def keys_in(payload: Payload) -> set[str]:
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            found.update(str(item) for key, item in value.items() if key.endswith("entity_key"))
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    walk(json.loads(json.dumps(payload)))
    return found


@examples(5)
@given(
    mine=graphs,
    theirs=graphs,
    query=phrases,
    threshold=st.sampled_from([-1.0, 0.2, 0.5]),
    exact=st.booleans(),
)
async def test_a_search_returns_all_of_the_users_records_and_no_others(
    graph: KnowledgeGraph,
    mine: Relationships,
    theirs: Relationships,
    query: str,
    threshold: float,
    exact: bool,
) -> None:
    settings = graph.settings.model_copy(update={"exact_scan_limit": 1_000 if exact else 0})
    searched = KnowledgeGraph(services_of(graph).store, graph.ontology, graph.embedder, settings)
    my_id, other_id = f"user-{uuid4()}", f"user-{uuid4()}"
    my_keys = await build(searched, my_id, mine)
    await build(searched, other_id, theirs)
    [vector] = await searched.embedder.embed([query])
    stored = await relationships_of(searched, my_id)
    expected = sorted(
        (
            similarity
            for item in stored
            if (similarity := cosine(vector, item["relationship_embedding"])) >= threshold
        ),
        reverse=True,
    )
    found = await searched.retrieval.relationship_vector_search(query, threshold, user_id=my_id)
    assert len(found) == len(expected)
    assert all(
        abs(hit.similarity - value) < 1e-5 for hit, value in zip(found, expected, strict=True)
    )
    payload = succeeded(
        await searched.tools(user_id=my_id).explore(
            queries=[{"query": query, "threshold": threshold}],
            text_matches=[query, "Ada"],
            return_explanations=True,
        )
    )
    assert keys_in(payload) <= my_keys
