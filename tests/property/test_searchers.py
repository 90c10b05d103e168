"""Whatever a graph looks like, the graph and hybrid searchers give what a plain walk gives."""

from collections.abc import Collection
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from kgagent import KnowledgeGraph
from tests.support.drawn import Drawing
from tests.support.examples import examples

NAMES = "abcdefgh"
names = st.sampled_from(NAMES)
pairs = st.sets(st.tuples(names, names).filter(lambda pair: pair[0] != pair[1]), max_size=12)

few_examples = examples(10)


def hops(joined: Collection[tuple[str, str]], start: str, depth: int) -> dict[str, int]:
    """Hops from a start, both directions walked."""
    found = {start: 0}
    for level in range(depth):
        frontier = {name for name, at in found.items() if at == level}
        for first, last in joined:
            for here, there in ((first, last), (last, first)):
                if here in frontier:
                    found.setdefault(there, level + 1)
    return found


@few_examples
@given(
    joined=pairs,
    seeds=st.lists(names, min_size=1, max_size=3),
    depth=st.integers(1, 5),
    top_k=st.integers(1, 10),
)
async def test_graph_search_returns_the_nearest_nodes(
    graph: KnowledgeGraph, joined: set[tuple[str, str]], seeds: list[str], depth: int, top_k: int
) -> None:
    drawing = Drawing(graph, f"user-{uuid4()}")
    await drawing.nodes(*NAMES)
    await drawing.joins(joined)
    walks = [hops(joined, seed, depth) for seed in seeds]
    nearest = {
        name: min(walk[name] for walk in walks if name in walk) for walk in walks for name in walk
    }
    expected = sorted(nearest.items(), key=lambda one: (one[1], one[0]))[:top_k]
    found = await drawing.searcher("graph").search(
        None, drawing.options(*seeds, graph_depth=depth, top_k=top_k)
    )
    assert [(hit.node.name, hit.depth) for hit in found] == expected
    assert [hit.score for hit in found] == [1 / (1 + at) for _, at in expected]


@few_examples
@given(
    joined=pairs,
    similar=st.dictionaries(names, st.sampled_from([0.9, 0.5, 0.1, -0.6]), min_size=1, max_size=5),
    seeds=st.lists(names, max_size=2),
    depth=st.integers(1, 5),
    top_k=st.integers(1, 10),
)
async def test_hybrid_search_adds_both_scores(
    graph: KnowledgeGraph,
    joined: set[tuple[str, str]],
    similar: dict[str, float],
    seeds: list[str],
    depth: int,
    top_k: int,
) -> None:
    drawing = Drawing(graph, f"user-{uuid4()}")
    await drawing.nodes(*NAMES, similar=similar)
    await drawing.joins(joined)
    reached = dict.fromkeys(seeds, 0)
    for start in {*similar, *seeds}:
        for name, at in hops(joined, start, depth).items():
            if name != start:
                reached[name] = min(at, reached.get(name, at))
    expected = {
        name: similar.get(name, 0.0) + (1 / (1 + reached[name]) if name in reached else 0.0)
        for name in {*similar, *reached}
    }
    found = await drawing.searcher("hybrid").search(
        None, drawing.options(*seeds, graph_depth=depth, top_k=top_k)
    )
    best = sorted(expected.values(), reverse=True)[:top_k]
    assert len(found) == len(best)
    for hit, score in zip(found, best, strict=True):
        assert abs(hit.score - score) < 1e-5
        assert abs(hit.score - expected[hit.node.name]) < 1e-5
        source = (
            "graph"
            if hit.node.name not in similar
            else "hybrid"
            if hit.node.name in reached
            else "vector"
        )
        assert hit.source == source
        assert hit.depth == (0 if hit.node.name in similar else reached[hit.node.name])
