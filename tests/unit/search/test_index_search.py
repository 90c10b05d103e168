"""When a search of a vector index that cannot filter by user ends, and how many candidates a
filtered one compares.
"""

from collections.abc import Mapping
from typing import Any

import pytest
from neo4j import AsyncGraphDatabase

from kgagent.embedding.hashing import HashingEmbedder
from kgagent.graph.features import ServerFeatures
from kgagent.graph.store import Row, Store
from kgagent.ontology.load import default_ontology
from kgagent.search.query import EmbeddedQuery
from kgagent.search.scope import SearchScope
from kgagent.search.vectors import (
    ALL_FIELDS,
    FilteredIndex,
    UnfilteredIndex,
    VectorRequest,
    node_target,
    relationship_target,
)

FILTERED = ServerFeatures("2026.08.1", True, vectors_on_the_wire=True, quantization_types=True)
FEATURES = ServerFeatures("5.26.30", filtered_vector_indexes=False, vectors_on_the_wire=False)
OWNED = ("a", "b", "c")


class Answers(Store):
    """A database in which one user owns three nodes; its index answers as it is told, its exact
    scan finds all.
    """

    def __init__(self, least: float | None, indexed: int) -> None:
        super().__init__(
            AsyncGraphDatabase.driver("bolt://127.0.0.1:1"), FEATURES, uri="", database=None
        )
        self._least = least
        self._indexed = indexed
        self.fetched: list[int | None] = []

    async def read(
        self,
        text: str,  # noqa: ARG002
        parameters: Mapping[str, Any],
        *,
        timeout: float | None = None,  # noqa: ARG002
    ) -> list[Row]:
        fetch = parameters.get("fetch")
        self.fetched.append(fetch)
        found = [
            {"similarity": 0.5, "node": [key, ["Person"], [["entity_key", key]]]}
            for key in (OWNED if fetch is None else OWNED[: self._indexed])
        ]
        return [
            {
                "query": 0,
                "label": "Person",
                "least": self._least,
                "matches": found[: parameters["limit"]],
            }
        ]


async def search(store: Answers, *, limit: int, threshold: float) -> list[str]:
    ontology = default_ontology()
    scope = SearchScope.over(store, ontology, HashingEmbedder(3), timeout=1.0).of("someone")
    queries = [EmbeddedQuery([1.0, 0.0, 0.0], threshold)]
    [[found]] = await UnfilteredIndex(oversampling=1).search(
        VectorRequest(scope, [node_target("Person")], queries, limit)
    )
    await store.close()
    return [candidate.key for candidate in found]


async def test_an_index_that_ends_early_is_no_proof_that_no_more_exist() -> None:
    store = Answers(least=-0.5, indexed=1)
    assert len(await search(store, limit=3, threshold=-1.0)) == 3
    assert store.fetched[-1] is None


@pytest.mark.parametrize(
    ("least", "limit", "threshold"), [(0.1, 3, 0.2), (0.1, 1, -1.0), (None, 3, -1.0)]
)
async def test_what_is_below_threshold_or_worse_than_all_wanted_ends_a_search(
    least: float | None, limit: int, threshold: float
) -> None:
    store = Answers(least, indexed=0 if least is None else 1)
    await search(store, limit=limit, threshold=threshold)
    assert store.fetched == [200]


class LargeIndex(Store):
    """A database whose relationships have a filtered index that compares 20 vectors for each match
    it returns.
    """

    def __init__(self, size: int) -> None:
        super().__init__(
            AsyncGraphDatabase.driver("bolt://127.0.0.1:1"), FILTERED, uri="", database=None
        )
        self._size = size
        self.fetched: list[int] = []

    async def read(
        self,
        text: str,  # noqa: ARG002
        parameters: Mapping[str, Any],
        *,
        timeout: float | None = None,  # noqa: ARG002
    ) -> list[Row]:
        if "indexes" in parameters:
            config = {
                "vector.quantization.type": "NONE",
                "vector.default_search_expansion_factor": 20.0,
            }
            return [{"name": name, "config": config} for name in parameters["indexes"]]
        if "fetch" not in parameters:
            return [{"found": self._size}]
        self.fetched.append(parameters["fetch"])
        return [{"query": 0, "label": "", "hits": 0, "least": None, "matches": []}]


@pytest.mark.parametrize(
    ("size", "limit", "fetch"),
    [
        (10, 20, 20),
        (100_000, 20, 20),
        (1_000_000, 20, 120),
        (10_000_000, 20, 120),
        # Beyond 10,000, the vectors would be compared one by one.
        (1_000_000, 4_000, 10_000),
    ],
)
async def test_the_larger_an_index_the_more_candidates_are_compared(
    size: int, limit: int, fetch: int
) -> None:
    store = LargeIndex(size)
    scope = SearchScope.over(store, default_ontology(), HashingEmbedder(3), timeout=1.0).of(
        "someone"
    )
    target = relationship_target(default_ontology(), FILTERED, None, ALL_FIELDS)
    index = FilteredIndex(oversampling=20)
    await index.search(
        VectorRequest(scope, [target], [EmbeddedQuery([1.0, 0.0, 0.0], -1.0)], limit)
    )
    await store.close()
    assert store.fetched == [fetch]
