"""How vector indexes are made, in the terms of Neo4j's `indexConfig`, and what an index that is there tells."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from kgagent.graph.features import ServerFeatures
from kgagent.settings import IndexQuantization, Settings

QUANTIZATION_TYPE = "vector.quantization.type"
QUANTIZATION_ENABLED = "vector.quantization.enabled"
EXPANSION = "vector.default_search_expansion_factor"

Config = Mapping[str, Any]


@dataclass(frozen=True)
class VectorIndexOptions:
    """What is chosen for a vector index beside its length.

    Attributes:
        quantization: how the index keeps vectors while it looks for near ones.
        m: neighbours that each vector has in the index's graph (HNSW), 1 to 512.
        ef_construction: candidates among which those neighbours are chosen, 1 to 3,200.
        search_expansion: candidates that a search keeps, as a multiple of the hits asked for, from 1.
    """

    quantization: IndexQuantization
    m: int
    ef_construction: int
    search_expansion: float

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Those that the settings choose."""
        return cls(
            settings.index_quantization,
            settings.index_m,
            settings.index_ef_construction,
            settings.index_search_expansion,
        )

    def config(self, dimensions: int, features: ServerFeatures) -> str:
        """The `indexConfig` of an index for embeddings of some length, as far as the server knows its options."""
        values = {
            "vector.dimensions": f"{dimensions:d}",
            "vector.similarity_function": "'cosine'",
            "vector.hnsw.m": f"{self.m:d}",
            "vector.hnsw.ef_construction": f"{self.ef_construction:d}",
        }
        if features.quantization_types:
            values |= {QUANTIZATION_TYPE: f"'{self.quantization}'", EXPANSION: f"{self.search_expansion:f}"}
        else:
            values |= {QUANTIZATION_ENABLED: "false" if self.quantization == "none" else "true"}
        return "{" + ", ".join(f"`{name}`: {value}" for name, value in values.items()) + "}"

    def differences(self, config: Config, features: ServerFeatures) -> list[str]:
        """Say in what an index differs from these options.

        Args:
            config: its `indexConfig`, as the server tells it.
            features: what the server knows.
        """
        wanted: dict[str, object] = {"vector.hnsw.m": self.m, "vector.hnsw.ef_construction": self.ef_construction}
        if features.quantization_types:
            wanted |= {QUANTIZATION_TYPE: self.quantization.upper(), EXPANSION: self.search_expansion}
        else:
            wanted |= {QUANTIZATION_ENABLED: self.quantization != "none"}
        return [
            f"{name} is {config[name]}, not {value}"
            for name, value in wanted.items()
            if name in config and config[name] != value
        ]


@dataclass(frozen=True)
class IndexScores:
    """What a search must know of an index that is there.

    Attributes:
        estimated: whether its scores are of shortened vectors, not of the stored ones.
        expansion: candidates that it compares for each hit asked for.
    """

    estimated: bool
    expansion: float

    @classmethod
    def of(cls, config: Config) -> Self:
        """Read an `indexConfig`: Neo4j compares binary hits again with the stored vectors, but not scalar ones."""
        if QUANTIZATION_TYPE in config:
            estimated = str(config[QUANTIZATION_TYPE]).upper() == "SCALAR"
        else:
            estimated = config.get(QUANTIZATION_ENABLED) is not False
        return cls(estimated, float(config.get(EXPANSION) or 1.0))
