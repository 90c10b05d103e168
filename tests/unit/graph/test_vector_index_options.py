import dataclasses

import pytest

from kgagent.graph.features import ServerFeatures
from kgagent.graph.vector_index_options import IndexScores, VectorIndexOptions

NEW = ServerFeatures("2026.08.1", True, vectors_on_the_wire=True, quantization_types=True)
OLD = ServerFeatures("5.26.30", False, vectors_on_the_wire=False)
OPTIONS = VectorIndexOptions("none", m=24, ef_construction=150, search_expansion=8.0)


def test_a_server_gets_only_options_that_it_supports() -> None:
    new, old = OPTIONS.config(384, NEW), OPTIONS.config(384, OLD)
    for config in (new, old):
        assert "`vector.dimensions`: 384" in config
        assert "`vector.hnsw.m`: 24" in config
        assert "`vector.hnsw.ef_construction`: 150" in config
    assert "`vector.quantization.type`: 'none'" in new
    assert "`vector.default_search_expansion_factor`: 8.0" in new
    assert "`vector.quantization.enabled`: false" in old
    assert "expansion" not in old
    binary = dataclasses.replace(OPTIONS, quantization="binary")
    assert "`vector.quantization.enabled`: true" in binary.config(384, OLD)


def test_an_index_with_other_options_is_reported_with_both_values() -> None:
    there = {
        "vector.hnsw.m": 16,
        "vector.hnsw.ef_construction": 150,
        "vector.quantization.type": "BINARY",
    }
    assert OPTIONS.differences(there, NEW) == [
        "vector.hnsw.m is 16, not 24",
        "vector.quantization.type is BINARY, not NONE",
    ]
    assert (
        OPTIONS.differences({"vector.hnsw.m": 24, "vector.quantization.enabled": False}, OLD) == []
    )


@pytest.mark.parametrize(
    ("config", "estimated", "expansion"),
    [
        (
            {"vector.quantization.type": "NONE", "vector.default_search_expansion_factor": 16.0},
            False,
            16.0,
        ),
        (
            {"vector.quantization.type": "BINARY", "vector.default_search_expansion_factor": 3.0},
            False,
            3.0,
        ),
        (
            {"vector.quantization.type": "SCALAR", "vector.default_search_expansion_factor": 1.5},
            True,
            1.5,
        ),
        ({"vector.quantization.enabled": True}, True, 1.0),
        ({"vector.quantization.enabled": False}, False, 1.0),
        ({}, True, 1.0),
    ],
)
def test_a_quantized_index_is_known_to_return_estimates(
    config: dict[str, object], estimated: bool, expansion: float
) -> None:
    assert IndexScores.of(config) == IndexScores(estimated, expansion)


@pytest.mark.parametrize(
    ("size", "widening"),
    [(0, 1.0), (1, 1.0), (100_000, 1.0), (1_000_000, 6.0), (10_000_000, 6.0), (200_000, 2.50515)],
)
def test_a_search_of_a_large_index_compares_more(size: int, widening: float) -> None:
    assert IndexScores.of({}, size).widening == pytest.approx(widening)
