"""What the connected Neo4j supports, determined once from its version."""

import re
from dataclasses import dataclass
from functools import cached_property

from kgagent.errors import StoreError

OLDEST = (5, 26)
FILTERED_INDEXES_SINCE = (2026, 1)
QUANTIZATION_TYPES_SINCE = (2026, 6)


@dataclass(frozen=True)
class ServerFeatures:
    """The differences between the supported versions of Neo4j.

    Attributes:
        version: as the server reports it.
        filtered_vector_indexes: Cypher 25's SEARCH with filters inside the index, and several types
            in one index.
        vectors_on_the_wire: the driver's Vector is accepted as a parameter.
        quantization_types: the quantization of a vector index and the number of search candidates
            can be configured.
    """

    version: str
    filtered_vector_indexes: bool
    vectors_on_the_wire: bool
    quantization_types: bool = False

    @classmethod
    def detect(
        cls, version: str, cypher_versions: list[str], bolt: tuple[int, int]
    ) -> "ServerFeatures":
        """Determine the features from what the server reports.

        Args:
            version: version of the kernel, such as "2026.08.1" or "5.26-aura".
            cypher_versions: supported Cypher versions, such as ["5", "25"].
            bolt: negotiated version of the Bolt protocol.

        Raises:
            StoreError: the server is older than 5.26.
        """
        numbers = re.match(r"(\d+)\.(\d+)", version)
        known = (int(numbers[1]), int(numbers[2])) if numbers else OLDEST
        if known < OLDEST:
            raise StoreError(f"Neo4j {version} is too old: kgagent needs 5.26 or later")
        filtered = known >= FILTERED_INDEXES_SINCE and "25" in cypher_versions
        return cls(
            version,
            filtered,
            vectors_on_the_wire=filtered and bolt >= (6, 0),
            quantization_types=filtered and known >= QUANTIZATION_TYPES_SINCE,
        )

    @cached_property
    def language(self) -> str:
        """The prefix of every statement."""
        return "CYPHER 25 " if self.filtered_vector_indexes else ""
