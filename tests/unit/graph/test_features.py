import pytest

from kgagent.errors import StoreError
from kgagent.graph.features import ServerFeatures


@pytest.mark.parametrize(
    ("version", "languages", "bolt", "filtered", "vectors"),
    [
        ("2026.08.1", ["5", "25"], (6, 0), True, True),
        ("2026.01.0", ["5", "25"], (5, 8), True, False),
        ("2025.12.1", ["5", "25"], (6, 0), False, False),
        ("5.26.30", ["5"], (5, 8), False, False),
        ("5.26-aura", ["5"], (5, 8), False, False),
        ("2026.08.1", ["5"], (6, 0), False, False),
        ("unknown", ["5"], (5, 8), False, False),
    ],
)
def test_features_follow_from_the_version(
    version: str, languages: list[str], bolt: tuple[int, int], filtered: bool, vectors: bool
) -> None:
    features = ServerFeatures.detect(version, languages, bolt)
    assert (features.filtered_vector_indexes, features.vectors_on_the_wire) == (filtered, vectors)
    assert features.language == ("CYPHER 25 " if filtered else "")


@pytest.mark.parametrize("version", ["5.25.1", "4.4.0"])
def test_an_old_server_is_refused(version: str) -> None:
    with pytest.raises(
        StoreError, match=f"Neo4j {version} is too old: kgagent needs 5.26 or later"
    ):
        ServerFeatures.detect(version, ["5"], (5, 0))
