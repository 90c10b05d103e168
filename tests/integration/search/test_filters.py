"""Filters: every search keeps the same relationships, whether it compares one by one or asks an
index.
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import InputError
from kgagent.models import ExploreRequest
from kgagent.models.hybrid import HybridSearchRequest
from kgagent.models.search import SearchFilters
from kgagent.models.traversal import TraverseRequest
from kgagent.tools import Toolset
from tests.support.payloads import error_of
from tests.support.people import create_all

pytestmark = pytest.mark.neo4j_5

QUERY = "who knows whom?"
EVERY = {"friend", "rival", "reads", "cousin"}


@pytest.fixture
async def graph_of_four(opened: KnowledgeGraph, user_id: str) -> None:
    """Ada with a friend, a rival, a cousin without levels, and a concept; each relationship has a
    note.
    """
    people = [{"label": "Person", "name": name} for name in ("Ada", "Bo", "Cy", "Di")]
    relationships: list[dict[str, Any]] = [
        {"to": "Bo", "relationship_type": "friend", "attitude": 5, "proximity": 2},
        {"to": "Cy", "relationship_type": "rival", "attitude": 1, "proximity": 4},
        {"to": "Di", "relationship_type": "cousin"},
        {"to": "Sailing", "relationship_type": "reads", "attitude": 4, "proximity": 4},
    ]
    await create_all(
        opened,
        user_id,
        [*people, {"label": "Concept", "name": "Sailing"}],
        [
            {"from": "Ada", "notes": [f"They met as {one['relationship_type']}"], **one}
            for one in relationships
        ],
    )


FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({}, EVERY),
    ({"min_attitude": 4}, {"friend", "reads"}),
    ({"max_attitude": 3}, {"rival"}),
    ({"min_attitude": 4, "min_proximity": 3}, {"reads"}),
    ({"max_proximity": 2}, {"friend"}),
    ({"labels": ("Concept",)}, {"reads"}),
    ({"neo4j_types": ("engages_with",)}, {"reads"}),
    ({"relationship_types": ("rival", "cousin"), "max_attitude": 5}, {"rival"}),
]
"""Filters, and the types of the relationships that they keep."""


@pytest.mark.usefixtures("graph_of_four")
async def test_all_searches_keep_the_same_relationships_by_every_plan(
    searching: Callable[[str], KnowledgeGraph], user_id: str
) -> None:
    for plan, (filters, kept) in product(("exact", "index"), FILTERS):
        for name, types in (await types_of_all_searches(searching(plan), user_id, filters)).items():
            assert types == kept, (plan, filters, name)


async def test_a_type_keeps_relationships_that_list_it_among_others(
    graph: KnowledgeGraph, user_id: str
) -> None:
    people = [{"label": "Person", "name": name} for name in ("Ada", "Bo", "Cy")]
    relationships = [
        {"from": "Ada", "to": "Bo", "relationship_type": "Friend, landlady"},
        {"from": "Ada", "to": "Cy", "relationship_type": "sister"},
    ]
    keys = await create_all(graph, user_id, people, relationships)
    retrieval, types = graph.retrieval, ("friend", "uncle")
    hybrid = await retrieval.hybrid_search(
        HybridSearchRequest(query=QUERY, threshold=-1.0, relationship_types=types), user_id=user_id
    )
    explored = await retrieval.explore(
        ExploreRequest.model_validate(
            {"queries": [{"query": QUERY, "threshold": -1.0}], "relationship_types": types}
        ),
        user_id=user_id,
    )
    walked = await retrieval.traverse(
        TraverseRequest(entity_key=keys["Ada"], relationship_types=types), user_id=user_id
    )
    direct = await retrieval.relationship_vector_search(
        QUERY, -1.0, user_id=user_id, relationship_types=types
    )
    assert [one.relationship_type for one in direct] == ["Friend, landlady"]
    assert [one.relationship_type for one in hybrid.relationships or ()] == ["Friend, landlady"]
    assert [one.relationship_type for one in explored.relationships] == ["Friend, landlady"]
    assert [one.node.name for one in walked.reached] == ["Bo"]
    for result in (hybrid, explored, walked):
        assert "No relationship has the type 'uncle'" in result.warnings[0]


async def types_of_all_searches(
    graph: KnowledgeGraph, user_id: str, filters: dict[str, Any]
) -> dict[str, set[str]]:
    """The types of the relationships that each search finds."""
    retrieval, query = graph.retrieval, {"query": QUERY, "threshold": -1.0}
    hybrid = await retrieval.hybrid_search(
        HybridSearchRequest.model_validate(query | filters), user_id=user_id
    )
    explored = await retrieval.explore(
        ExploreRequest.model_validate({"queries": [query], **filters}), user_id=user_id
    )
    direct = await retrieval.relationship_vector_search(QUERY, -1.0, user_id=user_id, **filters)
    assert not (*hybrid.warnings, *explored.warnings)
    found = {
        "hybrid": hybrid.relationships or (),
        "explore": explored.relationships,
        "direct": direct,
    }
    return {
        name: {one.relationship_type for one in relationships}
        for name, relationships in found.items()
    }


async def test_notes_that_a_filter_removes_take_no_place_of_others(
    opened: KnowledgeGraph, searching: Callable[[str], KnowledgeGraph], user_id: str
) -> None:
    await create_all(
        opened,
        user_id,
        [{"label": "Person", "name": name} for name in ("Ada", "Bo", "Cy")],
        [
            {
                "from": "Ada",
                "to": "Bo",
                "relationship_type": "rival",
                "attitude": 1,
                "notes": [f"They raced boats, time {n}" for n in range(120)],
            },
            {
                "from": "Ada",
                "to": "Cy",
                "relationship_type": "friend",
                "attitude": 5,
                "notes": ["A long story, and somewhere in it they raced"],
            },
        ],
    )
    request = HybridSearchRequest(query="They raced boats", threshold=0.1, min_attitude=4)
    for plan in ("exact", "index"):
        found = await searching(plan).retrieval.hybrid_search(request, user_id=user_id)
        [friend] = found.relationships or ()
        assert "statement_vector" in friend.found_by, plan


@pytest.fixture
async def dated(opened: KnowledgeGraph, user_id: str) -> None:
    """Ada's landlady until 2021, partner since 2020, tenant of two periods, and dated notes of a
    friend and a node.
    """
    await create_all(
        opened,
        user_id,
        [
            *({"label": "Person", "name": name} for name in ("Ada", "Bo", "Cy", "Di", "Ed")),
            {
                "label": "Concept",
                "name": "Chess",
                "notes": [
                    {"content": "Ada won a prize", "when": "2018-05"},
                    {"content": "Ada lost", "when": "2012; 2023"},
                ],
            },
        ],
        [
            {"from": "Ada", "to": "Bo", "relationship_type": "landlady", "when": "2015/2021-03"},
            {"from": "Ada", "to": "Cy", "relationship_type": "partner", "when": "2020~/.."},
            {
                "from": "Ada",
                "to": "Ed",
                "relationship_type": "tenant",
                "when": "2015/2016; 2024/..",
            },
            {
                "from": "Ada",
                "to": "Di",
                "relationship_type": "friend",
                "notes": [
                    {"content": "They met", "when": "2012"},
                    {"content": "They rowed", "when": "2023-07-01"},
                ],
            },
        ],
    )


PERIODS: list[tuple[dict[str, str], set[str], set[str]]] = [
    ({"as_of": "2013"}, {"friend"}, {"They met", "Ada lost"}),
    (
        {"as_of": "2021"},
        {"landlady", "partner", "friend"},
        {"They met", "Ada won a prize", "Ada lost"},
    ),
    ({"as_of": "2021-04-01"}, {"partner", "friend"}, {"They met", "Ada won a prize", "Ada lost"}),
    ({"between": "2010/2014"}, {"friend"}, {"They met", "Ada lost"}),
    ({"between": "2018"}, {"landlady"}, {"Ada won a prize"}),
    ({"between": "2022/.."}, {"partner", "friend", "tenant"}, {"They rowed", "Ada lost"}),
    ({"between": "2022/..", "as_of": "2022"}, {"partner"}, set()),
]
"""Periods, the types of the relationships that are valid or dated then, and the notes that are
shown.
"""


@pytest.mark.usefixtures("dated")
async def test_searches_keep_what_was_valid_then_or_is_dated_within_by_every_plan(
    searching: Callable[[str], KnowledgeGraph], user_id: str
) -> None:
    for plan, (filters, types, notes) in product(("exact", "index"), PERIODS):
        retrieval, query = searching(plan).retrieval, {"query": QUERY, "threshold": -1.0}
        hybrid = await retrieval.hybrid_search(
            HybridSearchRequest.model_validate(query | filters), user_id=user_id
        )
        explored = await retrieval.explore(
            ExploreRequest.model_validate({"queries": [query], **filters}), user_id=user_id
        )
        found: dict[str, list[Any]] = {
            "hybrid": [*(hybrid.relationships or ()), *hybrid.objects],
            "explore": [
                *explored.relationships,
                *(one.node for one in explored.nodes),
                *explored.neighbors,
            ],
        }
        for name, items in found.items():
            related = {one.relationship_type for one in items if hasattr(one, "relationship_type")}
            assert related == types, (plan, filters, name)
            assert {note.content for one in items for note in one.notes} == notes, (
                plan,
                filters,
                name,
            )


async def test_a_note_of_several_days_is_between_each_and_one_that_expired_never(
    opened: KnowledgeGraph, searching: Callable[[str], KnowledgeGraph], user_id: str
) -> None:
    dined = [
        {"content": "They dined.", "when": "2019"},
        {"content": "They dined.", "when": "2023"},
        "They dined.",
    ]
    away = [{"content": "Is away.", "when": "2021", "expires_at": "2022-01-01T00:00:00Z"}]
    people: list[dict[str, Any]] = [
        {"label": "Person", "name": "Ada", "notes": away},
        {"label": "Person", "name": "Bo"},
    ]
    ends = {"from": "Ada", "to": "Bo", "relationship_type": "friend"}
    await create_all(opened, user_id, people, [{**ends, "notes": dined}])
    for plan, (year, found) in product(
        ("exact", "index"), (("2019", True), ("2021", False), ("2023", True))
    ):
        request = HybridSearchRequest.model_validate(
            {"query": QUERY, "threshold": -1.0, "between": year}
        )
        result = await searching(plan).retrieval.hybrid_search(request, user_id=user_id)
        assert bool(result.items) == found, (plan, year)
        assert [note.when for one in result.relationships or () for note in one.notes] == [
            year
        ] * found
        # What was said of 2023 was not known in 2021, though the same was said of 2019.
        earlier = request.model_copy(update={"as_of": "2021"})
        result = await searching(plan).retrieval.hybrid_search(earlier, user_id=user_id)
        assert bool(result.items) == (year == "2019"), (plan, year)


async def test_a_period_that_is_not_in_edtf_is_an_error_that_shows_the_form(tools: Toolset) -> None:
    assert "such as 2023-02-04" in error_of(
        await tools.hybrid_search(query=QUERY, as_of="last year")
    )


def test_a_range_that_is_empty_or_out_of_bounds_is_an_error() -> None:
    with pytest.raises(InputError, match="min_attitude must be at most max_attitude, got 4 and 2"):
        SearchFilters(min_attitude=4, max_attitude=2)
    with pytest.raises(InputError, match="max_proximity"):
        SearchFilters(max_proximity=7)
