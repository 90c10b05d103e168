"""Whatever a small graph looks like, the paths found are the best of all that there are."""

from array import array
from collections.abc import Sequence
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent import KnowledgeGraph
from kgagent.embedding.base import Embedding
from kgagent.knowledge_graph import services_of
from kgagent.models import FindPathsRequest
from tests.support.drawn import QUERY, Drawing, near_query
from tests.support.embedders import WatchedEmbedder
from tests.support.examples import examples
from tests.support.stored import cypher

NAMES = "abcdefg"
names = st.sampled_from(NAMES)
pairs = st.tuples(names, names).filter(lambda pair: pair[0] < pair[1])
graphs = st.dictionaries(pairs, st.sampled_from([0.9, 0.6, 0.3, 0.0, -0.5]), max_size=14)


class Pointing(WatchedEmbedder):
    """Every query is `QUERY`."""

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        return [array("f", QUERY) for _ in texts]


def all_paths(joined: dict[tuple[str, str], float], max_hops: int) -> dict[str, float]:
    """Every path from a to g with its score, by plain recursion."""
    found = {}

    def walk(path: str, weights: list[float]) -> None:
        if path[-1] == "g":
            found[path] = sum(weights) / len(weights) - 0.02 * (len(weights) - 1)
        elif len(weights) < max_hops:
            for (first, last), weight in joined.items():
                for here, there in ((first, last), (last, first)):
                    if here == path[-1] and there not in path:
                        walk(path + there, [*weights, weight])

    walk("a", [])
    return found


@examples(15)
@given(joined=graphs, max_hops=st.integers(1, 6), max_paths=st.integers(1, 8))
async def test_the_paths_found_are_the_best_of_all(
    graph: KnowledgeGraph, joined: dict[tuple[str, str], float], max_hops: int, max_paths: int
) -> None:
    opened = KnowledgeGraph(services_of(graph).store, graph.ontology, Pointing(), graph.settings)
    drawing = Drawing(opened, f"user-{uuid4()}")
    await drawing.nodes(*NAMES)
    await drawing.joins(joined)
    await cypher(
        opened,
        "UNWIND $rows AS row "
        "MATCH (:Person {entity_key: row[0], user_id: $user})-[r]->(:Person {entity_key: row[1], "
        "user_id: $user}) "
        "SET r.relationship_embedding = row[2]",
        user=drawing.user_id,
        rows=[
            [drawing.key(a), drawing.key(b), near_query(similarity)]
            for (a, b), similarity in joined.items()
        ],
    )
    every = all_paths(joined, max_hops)
    fewest = min(map(len, every), default=0)
    request = FindPathsRequest(
        from_entity_key=drawing.key("a"),
        to_entity_key=drawing.key("g"),
        query="x",
        max_hops=max_hops,
        limit=max_paths,
    )
    found = await opened.retrieval.find_paths(request, user_id=drawing.user_id)
    by_name = {"".join(node.name for node in path.nodes): path for path in found.paths}
    assert len(by_name) == len(found.paths) == min(max_paths, len(every))
    for name, path in by_name.items():
        assert path.score == pytest.approx(every[name], abs=1e-5)
        assert path.is_shortest == (len(name) == fewest)
    best = sorted(every.values(), reverse=True)[:max_paths]
    if by_name and fewest not in {
        len(name) for name in sorted(every, key=lambda n: -every[n])[:max_paths]
    }:
        best[-1] = max(score for name, score in every.items() if len(name) == fewest)
    assert [path.score for path in found.paths] == pytest.approx(best, abs=1e-5)

    plain = await opened.retrieval.find_paths(
        request.model_copy(update={"query": None}), user_id=drawing.user_id
    )
    assert [path.hops for path in plain.paths] == sorted(len(name) - 1 for name in every)[
        :max_paths
    ]
