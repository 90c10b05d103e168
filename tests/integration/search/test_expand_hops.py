"""Going on from the best statements to the relationships that share a node with theirs."""

from collections.abc import Sequence
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import InputError, StatementTimeoutError
from kgagent.graph.statements import Statement
from kgagent.graph.store import Store
from kgagent.models import ExploreRequest, VectorQuery
from kgagent.models.hybrid import HybridRelationship, HybridSearchRequest
from kgagent.search import expand
from kgagent.tools import Toolset
from tests.support.people import create_all
from tests.support.stored import cypher

QUESTION = "orchard painter"


async def joined(
    graph: KnowledgeGraph, user_id: str, chain: dict[tuple[str, str], str]
) -> dict[str, str]:
    """People who are joined as `chain` says, from name and name to description."""
    return await create_all(
        graph,
        user_id,
        [
            {"label": "Person", "name": name}
            for name in dict.fromkeys(name for pair in chain for name in pair)
        ],
        [
            {
                "from": first,
                "to": second,
                "relationship_type": text.split()[-1],
                "description": text,
            }
            for (first, second), text in chain.items()
        ],
    )


CHAIN = {
    ("Ada", "Bo"): "painter orchard neighbour",
    ("Bo", "Cy"): "violin duet",
    ("Cy", "Di"): "glacier expedition",
    ("Eve", "Fay"): "submarine chess",
}


async def matches_of(
    graph: KnowledgeGraph,
    user_id: str,
    hops: int | None,
    question: str | None = QUESTION,
    *,
    vector: Sequence[float] | None = None,
    **more: object,
) -> list[HybridRelationship]:
    asked = HybridSearchRequest.model_validate(
        {"query": question, "threshold": 0.2, "expand_hops": hops, **more}
    )
    result = await graph.retrieval.hybrid_search(asked, user_id=user_id, vector=vector)
    return list(result.relationships or ())


async def found(
    graph: KnowledgeGraph,
    user_id: str,
    hops: int | None,
    question: str | None = QUESTION,
    **more: Any,
) -> list[tuple[str, str]]:
    matches = await matches_of(graph, user_id, hops, question, **more)
    return [(match.from_name, match.to_name) for match in matches]


async def test_each_hop_reaches_one_relationship_further(
    graph: KnowledgeGraph, user_id: str
) -> None:
    await joined(graph, user_id, CHAIN)
    assert await found(graph, user_id, 0) == [("Ada", "Bo")]
    assert await found(graph, user_id, 1) == [("Ada", "Bo"), ("Bo", "Cy")]
    assert await found(graph, user_id, 2) == [("Ada", "Bo"), ("Bo", "Cy"), ("Cy", "Di")]


@pytest.mark.parametrize(("owner", "reached"), [(None, [("Bo", "Cy")]), ("another", [])])
async def test_a_relationship_without_a_user_is_that_of_its_nodes_and_one_of_another_user_is_not_reached(
    graph: KnowledgeGraph, user_id: str, owner: str | None, reached: list[tuple[str, str]]
) -> None:
    await joined(graph, user_id, CHAIN)
    await cypher(
        graph,
        "MATCH (:Person {user_id: $user, name: 'Bo'})-[r]-(:Person {name: 'Cy'}) SET r.user_id = "
        "$owner",
        user=user_id,
        owner=owner,
    )
    assert await found(graph, user_id, 1) == [("Ada", "Bo"), *reached]


async def test_a_reached_relationship_has_its_path_and_score(
    graph: KnowledgeGraph, user_id: str
) -> None:
    await joined(graph, user_id, CHAIN)
    first, second, third = await matches_of(graph, user_id, 2)
    assert (first.path, second.path) == ((), ("Ada neighbour Bo",))
    assert third.path == ("Ada neighbour Bo", "Bo duet Cy")
    assert first.score > second.score > third.score
    for reached in (second, third):
        assert reached.found_by == ("expansion",)
        assert reached.similarity is not None
        assert reached.similarity < 0.2
        assert sum(reached.contributions.values()) == pytest.approx(reached.score)
        assert reached.contributions["hops"] < 0.0
    assert await found(graph, user_id, 2, relationship_limit=2) == [("Ada", "Bo"), ("Bo", "Cy")]
    assert await found(graph, user_id, 2, relationship_types=("neighbour", "expedition")) == [
        ("Ada", "Bo")
    ]


async def test_explore_expands_as_many_hops_as_requested(
    graph: KnowledgeGraph, user_id: str, tools: Toolset
) -> None:
    await joined(graph, user_id, CHAIN)
    query = {"queries": [{"query": QUESTION, "threshold": 0.2}]}
    near = await tools.explore(**query, expand_hops=0)
    far = await tools.explore(**query, expand_hops=2)
    assert {node["name"] for node in near["nodes"]} == {"Ada", "Bo"}
    assert {node["name"] for node in far["nodes"]} == {"Ada", "Bo", "Cy", "Di"}


async def test_by_default_a_search_expands_two_hops(graph: KnowledgeGraph, user_id: str) -> None:
    await joined(
        graph, user_id, CHAIN | {("Di", "Ed"): "harbour lantern", ("Ed", "Fo"): "marble quarry"}
    )
    assert await found(graph, user_id, None) == [("Ada", "Bo"), ("Bo", "Cy"), ("Cy", "Di")]


async def test_a_relationship_without_a_valid_vector_is_skipped(
    graph: KnowledgeGraph, user_id: str
) -> None:
    await joined(graph, user_id, CHAIN)
    for planted in ([1.0, 2.0], None, "text", [0.0] * 384):
        await cypher(
            graph,
            "MATCH (:Person|Concept {user_id: $user})-[r {description: 'violin duet'}]->() "
            "SET r.relationship_embedding = $planted REMOVE r.embedding_hash",
            user=user_id,
            planted=planted,
        )
        assert await found(graph, user_id, 2) == [("Ada", "Bo")]


async def test_at_a_hub_a_limited_number_of_relationships_is_read(
    graph: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await joined(
        graph,
        user_id,
        {("Ada", "Bo"): "painter orchard neighbour"}
        | {("Bo", f"P{i}"): f"task{i} duty" for i in range(9)},
    )
    monkeypatch.setattr(expand, "SIBLINGS", 4)
    assert len(await found(graph, user_id, 1)) <= 1 + 4


async def test_relationships_at_a_hub_rank_below_a_single_continuation(
    graph: KnowledgeGraph, user_id: str
) -> None:
    starts = {
        ("Ada", "Bo"): "painter orchard neighbour",
        ("Eve", "Hub"): "painter orchard neighbour",
    }
    hub = {("Hub", f"P{i}"): f"violin{i} duet" for i in range(9)}
    await joined(graph, user_id, starts | {("Bo", "Cy"): "violin duet"} | hub)
    reached = [pair for pair in await found(graph, user_id, 1) if pair not in starts]
    assert reached[0] == ("Bo", "Cy")
    assert set(reached[1:]) == set(hub)


async def test_a_hub_is_penalized_by_its_degree_not_by_what_is_read(
    graph: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All are equally similar, since which of them are read first depends on the database.
    hub = {("Bo", f"P{i}"): "routine duty" for i in range(9)}
    await joined(graph, user_id, {("Ada", "Bo"): "painter orchard neighbour"} | hub)

    async def best_reached() -> float:
        return (await matches_of(graph, user_id, 1))[1].score

    of_all = await best_reached()
    monkeypatch.setattr(expand, "SIBLINGS", 3)
    assert await best_reached() == pytest.approx(of_all, abs=0.01)


NAMED = {
    ("Zoe", "Bo"): "orchard painter neighbour",
    ("Bo", "Cy"): "violin duet",
    ("Zoe", "Dan"): "glacier expedition",
    ("Eve", "Fay"): "orchard painter rival",
    ("Fay", "Gil"): "submarine chess",
}
ABOUT_ZOE = "orchard painter of Zoe"


async def test_a_search_retrieves_what_stands_at_the_nodes_that_the_query_names_and_expands_from_there(
    graph: KnowledgeGraph, user_id: str
) -> None:
    await joined(graph, user_id, NAMED)
    near = await matches_of(graph, user_id, 0, ABOUT_ZOE)
    assert {(match.from_name, match.to_name) for match in near} == {
        ("Zoe", "Bo"),
        ("Eve", "Fay"),
        ("Zoe", "Dan"),
    }
    [at_zoe] = [match for match in near if match.to_name == "Dan"]
    assert "named_node" in at_zoe.found_by
    answer = await found(graph, user_id, 1, ABOUT_ZOE)
    assert answer[0] == ("Zoe", "Bo")
    assert set(answer) == NAMED.keys()
    assert answer.index(("Bo", "Cy")) < answer.index(("Fay", "Gil"))
    [vector] = await graph.retrieval.embed_queries([ABOUT_ZOE])
    assert await found(graph, user_id, 1, ABOUT_ZOE, vector=vector) == answer
    assert set(await found(graph, user_id, 1, None, vector=vector)) == NAMED.keys()


async def test_results_are_unique_and_sorted_by_score(graph: KnowledgeGraph, user_id: str) -> None:
    chain = CHAIN | {("Cy", "Ada"): "orchard choir", ("Ada", "Di"): "painter bicycle"}
    await joined(graph, user_id, chain)
    matches = await matches_of(graph, user_id, 5)
    scores = [match.score for match in matches]
    assert scores == sorted(scores, reverse=True)
    pairs = [(match.from_name, match.to_name) for match in matches]
    assert sorted(pairs) == sorted(chain.keys() - {("Eve", "Fay")})
    for match in matches:
        walked = [*match.path, f"{match.from_name} {match.relationship_type} {match.to_name}"]
        assert len(set(walked)) == len(walked)


async def test_a_relationship_reached_by_several_paths_has_the_best(
    graph: KnowledgeGraph, user_id: str
) -> None:
    await joined(
        graph,
        user_id,
        {
            ("Ada", "Bo"): "painter orchard",
            ("Eve", "Cy"): "painter orchard garden village",
            ("Bo", "Cy"): "violin duet",
        },
    )
    matches = await matches_of(graph, user_id, 1)
    [reached] = [match for match in matches if match.path]
    assert (reached.from_name, reached.to_name) == ("Bo", "Cy")
    assert reached.path == ("Ada orchard Bo",)


@pytest.mark.parametrize("planted", [None, [1.0, 2.0]])
async def test_a_start_that_lost_its_vector_is_still_expanded(
    graph: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch, planted: object
) -> None:
    await joined(graph, user_id, CHAIN)
    read = Store.read

    async def after_a_change(store: Store, text: str, *given: Any, **named: Any) -> Any:
        if isinstance(text, Statement) and text.name == "expand_hop":
            await cypher(
                graph,
                "MATCH (:Person {user_id: $user})-[r {description: 'painter orchard "
                "neighbour'}]->() "
                "SET r.relationship_embedding = $planted REMOVE r.embedding_hash",
                user=user_id,
                planted=planted,
            )
        return await read(store, text, *given, **named)

    monkeypatch.setattr(Store, "read", after_a_change)
    assert await found(graph, user_id, 1) == [("Ada", "Bo"), ("Bo", "Cy")]


async def test_after_a_timeout_the_results_so_far_are_returned(
    graph: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await joined(graph, user_id, CHAIN)
    read = Store.read
    hops = 0

    async def second_hop_takes_too_long(store: Store, text: str, *given: Any, **named: Any) -> Any:
        nonlocal hops
        is_hop = isinstance(text, Statement) and text.name == "expand_hop"
        hops += is_hop
        if is_hop and hops > 1:
            raise StatementTimeoutError("The database ended the statement")
        return await read(store, text, *given, **named)

    monkeypatch.setattr(Store, "read", second_hop_takes_too_long)
    assert await found(graph, user_id, 3) == [("Ada", "Bo"), ("Bo", "Cy")]
    assert hops == 2


async def test_hops_out_of_range_are_refused(graph: KnowledgeGraph, user_id: str) -> None:
    with pytest.raises(InputError, match="expand_hops must be at most 5, got 6"):
        await graph.search(HybridSearchRequest(query=QUESTION, expand_hops=6), user_id=user_id)


async def test_an_expansion_that_is_cut_short_is_a_warning(
    graph: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await joined(graph, user_id, CHAIN)
    warning = "Expansion was cut short: it took longer than 0 s"
    hybrid = HybridSearchRequest(query=QUESTION)
    broad = ExploreRequest(queries=(VectorQuery(query=QUESTION),))
    assert warning not in (await graph.search(hybrid, user_id=user_id)).warnings
    monkeypatch.setattr("kgagent.search.search.EXPANSION_SHARE", 0.0)
    assert warning in (await graph.search(hybrid, user_id=user_id)).warnings
    assert warning in (await graph.explore(broad, user_id=user_id)).warnings
