"""The options of vector indexes as Neo4j's `indexConfig`, and what a search must know of an
existing index.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from kgagent.graph.features import ServerFeatures
from kgagent.settings import IndexQuantization, Settings

QUANTIZATION_TYPE = "vector.quantization.type"
QUANTIZATION_ENABLED = "vector.quantization.enabled"
EXPANSION = "vector.default_search_expansion_factor"

Config = Mapping[str, Any]

LARGE = 100_000
"""Number of vectors from which a search must compare more candidates to find as many of the
nearest.
"""


@dataclass(frozen=True)
class VectorIndexOptions:
    """The options of a vector index besides its length.

    Attributes:
        quantization: how the index stores vectors for its search.
        m: number of neighbors of each vector in the HNSW graph, 1 to 512.
        ef_construction: number of candidates for those neighbors, 1 to 3,200.
        search_expansion: number of candidates of a search, as a multiple of its limit, from 1.
    """

    quantization: IndexQuantization
    m: int
    ef_construction: int
    search_expansion: float

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The options in the settings."""
        return cls(
            settings.index_quantization,
            settings.index_m,
            settings.index_ef_construction,
            settings.index_search_expansion,
        )

    def config(self, dimensions: int, features: ServerFeatures) -> str:
        """The `indexConfig` for embeddings of a length, limited to the options that the server
        supports.
        """
        values = {
            "vector.dimensions": f"{dimensions:d}",
            "vector.similarity_function": "'cosine'",
            **{name: _literal(value) for name, value in self._values(features).items()},
        }
        return "{" + ", ".join(f"`{name}`: {value}" for name, value in values.items()) + "}"

    def differences(self, config: Config, features: ServerFeatures) -> list[str]:
        """Describe how an index differs from these options.

        Args:
            config: the index's `indexConfig`, as the server returns it.
            features: what the server supports.
        """
        return [
            f"{name} is {config[name]}, not {value}"
            for name, value in self._values(features).items()
            if name in config and config[name] != value
        ]

    def _values(self, features: ServerFeatures) -> dict[str, str | float | bool]:
        values: dict[str, str | float | bool] = {
            "vector.hnsw.m": self.m,
            "vector.hnsw.ef_construction": self.ef_construction,
        }
        if features.quantization_types:
            return values | {
                QUANTIZATION_TYPE: self.quantization.upper(),
                EXPANSION: self.search_expansion,
            }
        return values | {QUANTIZATION_ENABLED: self.quantization != "none"}


def _literal(value: str | float | bool) -> str:
    """A value in Cypher; a float without an exponent."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"'{value.lower()}'"
    return f"{value:f}" if isinstance(value, float) else f"{value:d}"


@dataclass(frozen=True)
class IndexScores:
    """What a search must know of an existing index.

    Attributes:
        estimated: whether its scores come from quantized vectors instead of the stored ones.
        expansion: number of candidates that it compares for each result.
        size: number of vectors of all users, about.
    """

    estimated: bool
    expansion: float
    size: int = 0

    @classmethod
    def of(cls, config: Config, size: int = 0) -> Self:
        """Read an `indexConfig`; Neo4j rescores binary-quantized candidates, but not scalar
        ones.
        """
        if QUANTIZATION_TYPE in config:
            estimated = str(config[QUANTIZATION_TYPE]).upper() == "SCALAR"
        else:
            estimated = config.get(QUANTIZATION_ENABLED) is not False
        return cls(estimated, float(config.get(EXPANSION) or 1.0), size)

    @property
    def widening(self) -> float:
        """Factor of the number of candidates: 1 up to `LARGE` vectors, 6 from ten times as many,
        the log between.
        """
        return 1.0 + 5.0 * min(max(math.log10(max(self.size, 1) / LARGE), 0.0), 1.0)
