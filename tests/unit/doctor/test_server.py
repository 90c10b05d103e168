from kgagent.doctor.server import examine_features
from kgagent.graph.features import ServerFeatures


def test_a_server_that_filters_inside_its_indexes_needs_no_word() -> None:
    assert examine_features(ServerFeatures("2026.08.1", True, vectors_on_the_wire=True)) == []


def test_a_server_that_cannot_is_told_of_but_nothing_is_wrong() -> None:
    [finding] = examine_features(ServerFeatures("5.26.30", False, vectors_on_the_wire=False))
    assert finding.severity == "info"
    assert "5.26.30" in finding.what
