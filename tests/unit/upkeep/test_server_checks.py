from kgagent.graph.features import ServerFeatures
from kgagent.upkeep.doctor import feature_findings


def test_a_server_with_filtered_indexes_has_no_finding() -> None:
    assert feature_findings(ServerFeatures("2026.08.1", True, vectors_on_the_wire=True)) == []


def test_a_server_without_filtered_indexes_is_an_info() -> None:
    [finding] = feature_findings(ServerFeatures("5.26.30", False, vectors_on_the_wire=False))
    assert finding.severity == "info"
    assert "5.26.30" in finding.message
