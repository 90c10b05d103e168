"""Invariant 3 on data made to be hard: users of very uneven size, and those of little far from what
is asked.
"""

import random
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.knowledge_graph import services_of
from kgagent.models import Matches, RelationshipSearchResult
from tests.conftest import DIMENSIONS
from tests.support.crowd import plant_crowd
from tests.support.stored import cosine, cypher

pytestmark = pytest.mark.neo4j_5

OF_HALF, OF_SMALL, SMALL_USERS = 1_200, 10, 120
CLUSTERS = 12
QUESTIONS = 10
RARE = "seen once in a lifetime"
FEW = 100

Vector = list[float]


@dataclass(frozen=True)
class Crowd:
    """Users of whom one has half of all relationships, many have 10, and one has 1."""

    half: str
    small: Sequence[str]
    single: str
    owned: Mapping[str, Sequence[dict[str, Any]]]
    questions: Sequence[Vector]

    def nearest(self, user_id: str, query: Vector, limit: int) -> list[str]:
        """Keys of the user's nearest relationships, by comparing all of them."""
        items = self.owned[user_id]
        similarities = [cosine(query, item["relationship_embedding"]) for item in items]
        best = sorted(range(len(items)), key=lambda n: -similarities[n])[:limit]
        return [f"{user_id}:{n + 1}" for n in best]

    def users(self) -> list[tuple[str, int]]:
        """Some users, with how much they have."""
        return [
            (self.half, OF_HALF),
            (self.small[0], OF_SMALL),
            (self.small[-1], OF_SMALL),
            (self.single, 1),
        ]


def around(generator: random.Random, center: Vector, spread: float) -> Vector:
    return [x + generator.gauss(0.0, spread) for x in center]


@pytest.fixture(scope="module")
async def crowd(opened: KnowledgeGraph) -> AsyncIterator[Crowd]:
    """The one user's vectors crowd around what is asked; those of the others lie on the far
    side.
    """
    generator = random.Random(4)
    shared = [generator.gauss(0.0, 1.0) for _ in range(DIMENSIONS)]
    centers = [around(generator, shared, 0.8) for _ in range(CLUSTERS)]
    away = [-x for x in shared]
    prefix = f"crowd-{uuid.uuid4()}"
    half, single = f"{prefix}-half", f"{prefix}-single"
    small = [f"{prefix}-small-{n}" for n in range(SMALL_USERS)]
    owned = {
        half: [
            {
                "relationship_type": f"kind {n % 5}",
                "description": f"Number {n}",
                "relationship_embedding": around(generator, centers[n % CLUSTERS], 0.5),
            }
            for n in range(OF_HALF)
        ]
    }
    for user in (*small, single):
        owned[user] = [
            {
                "relationship_type": "kind 0",
                "description": f"Number {n}",
                "relationship_embedding": around(generator, away, 0.8),
            }
            for n in range(OF_SMALL if user != single else 1)
        ]
    for position in (1, OF_HALF // 2, OF_HALF - 1):
        owned[half][position] |= {
            "relationship_type": RARE,
            "relationship_embedding": around(generator, away, 0.1),
        }
    made = Crowd(
        half,
        small,
        single,
        owned,
        [around(generator, centers[n % CLUSTERS], 0.5) for n in range(QUESTIONS)],
    )
    await plant_crowd(opened, HashingEmbedder(DIMENSIONS).model, owned)
    yield made
    for label_part in ("-[r]-()", ""):
        target = "r" if label_part else "n"
        await cypher(
            opened,
            f"MATCH (n:Person){label_part} WHERE n.user_id STARTS WITH $p DELETE {target}",
            p=prefix,
        )


def keys(matches: Matches[RelationshipSearchResult]) -> list[str]:
    return [match.to_entity_key for match in matches]


@pytest.mark.parametrize("limit", [1, 20, 100])
async def test_each_user_finds_all_of_their_own_records_and_no_others(
    searched: KnowledgeGraph, crowd: Crowd, limit: int
) -> None:
    for user_id, count in crowd.users():
        for query in crowd.questions[:3]:
            found = await searched.retrieval.relationship_vector_search(
                vector=query, threshold=-1.0, user_id=user_id, limit=limit
            )
            assert len(set(keys(found))) == len(found) == min(limit, count)
            assert all(key.startswith(f"{user_id}:") for match in found for key in match.pair[1:])


async def test_the_twenty_results_are_the_twenty_most_similar(
    searched: KnowledgeGraph, crowd: Crowd
) -> None:
    shares = []
    for query in crowd.questions:
        found = await searched.retrieval.relationship_vector_search(
            vector=query, threshold=-1.0, user_id=crowd.half, limit=20
        )
        shares.append(len(set(keys(found)) & set(crowd.nearest(crowd.half, query, 20))) / 20)
    assert sum(shares) / len(shares) >= 0.99


async def test_users_with_few_records_get_the_most_similar_in_order(
    searched: KnowledgeGraph, crowd: Crowd
) -> None:
    for user_id in (crowd.small[3], crowd.single):
        for query in crowd.questions[:3]:
            found = await searched.retrieval.relationship_vector_search(
                vector=query, threshold=-1.0, user_id=user_id, limit=20
            )
            assert keys(found) == crowd.nearest(user_id, query, 20)


async def test_all_relationships_of_a_rare_type_are_found(
    searched: KnowledgeGraph, crowd: Crowd
) -> None:
    for query in crowd.questions[:3]:
        found = await searched.retrieval.relationship_vector_search(
            vector=query, threshold=-1.0, user_id=crowd.half, relationship_types=[RARE], limit=20
        )
        assert {match.relationship_type for match in found} == {RARE}
        assert len(found) == 3
        others = await searched.retrieval.relationship_vector_search(
            vector=query,
            threshold=-1.0,
            user_id=crowd.small[0],
            relationship_types=[RARE],
            limit=20,
        )
        assert len(others) == 0


async def test_similarities_and_thresholds_are_plain_cosine_among_many(
    searched: KnowledgeGraph, crowd: Crowd
) -> None:
    query = crowd.questions[0]
    items = crowd.owned[crowd.half]
    similarities = sorted(
        (cosine(query, item["relationship_embedding"]) for item in items), reverse=True
    )
    threshold = (similarities[6] + similarities[7]) / 2
    found = await searched.retrieval.relationship_vector_search(
        vector=query, threshold=threshold, user_id=crowd.half, limit=20
    )
    assert [match.similarity for match in found] == pytest.approx(similarities[:7], abs=1e-5)


async def test_the_plan_depends_on_how_much_the_user_has(
    opened: KnowledgeGraph, crowd: Crowd
) -> None:
    settings = opened.settings.model_copy(update={"exact_scan_limit": FEW})
    graph = KnowledgeGraph(services_of(opened).store, opened.ontology, opened.embedder, settings)
    indexed = "index" if services_of(opened).store.features.filtered_vector_indexes else "procedure"
    for user_id, types, plan in (
        (crowd.half, None, indexed),
        (crowd.half, [RARE], indexed),
        (crowd.small[0], None, "exact"),
        (crowd.single, None, "exact"),
        (crowd.half, [], indexed),
    ):
        found = await graph.retrieval.relationship_vector_search(
            vector=crowd.questions[0], threshold=-1.0, user_id=user_id, relationship_types=types
        )
        assert found.plan == plan


async def test_without_a_setting_the_server_version_determines_the_plan(
    opened: KnowledgeGraph, crowd: Crowd
) -> None:
    """1,200 are many where an index filters by user, and few where it cannot."""
    assert opened.settings.exact_scan_limit is None
    found = await opened.retrieval.relationship_vector_search(
        vector=crowd.questions[0], threshold=-1.0, user_id=crowd.half
    )
    assert found.plan == (
        "index" if services_of(opened).store.features.filtered_vector_indexes else "exact"
    )
