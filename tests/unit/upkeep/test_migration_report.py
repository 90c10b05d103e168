import json

from kgagent.upkeep.migration_report import Counts, MigrationReport
from kgagent.upkeep.rewrite import Skipped


def report() -> MigrationReport:
    return MigrationReport(
        nodes=Counts(examined=3, embedded=2, up_to_date=1),
        relationships=Counts(examined=1_234, embedded=1_000, updated=200, up_to_date=30, skipped=4),
        skipped=(Skipped("knows 'a' -> 'b'", "no user"),),
        seconds=2.0,
        dry_run=False,
    )


def test_it_reads_as_two_lines() -> None:
    assert str(report()) == (
        "3 nodes: 2 embedded, 0 updated, 1 up to date, 0 skipped\n"
        "1,234 relationships: 1,000 embedded, 200 updated, 30 up to date, 4 skipped"
    )


def test_a_dry_run_says_what_would_be_done() -> None:
    planned = MigrationReport(
        nodes=Counts(examined=3, embedded=2, up_to_date=1),
        relationships=Counts(examined=1, updated=1),
        skipped=(),
        seconds=2.0,
        dry_run=True,
    )
    assert str(planned) == (
        "3 nodes: 2 would be embedded, 0 would be updated, 1 up to date, 0 would be skipped\n"
        "1 relationship: 0 would be embedded, 1 would be updated, 0 up to date, 0 would be "
        "skipped"
    )


def test_it_is_plain_data() -> None:
    payload = report().to_dict()
    assert json.loads(json.dumps(payload)) == {
        "nodes": {"examined": 3, "embedded": 2, "updated": 0, "up_to_date": 1, "skipped": 0},
        "relationships": {
            "examined": 1234,
            "embedded": 1000,
            "updated": 200,
            "up_to_date": 30,
            "skipped": 4,
        },
        "total": {
            "examined": 1237,
            "embedded": 1002,
            "updated": 200,
            "up_to_date": 31,
            "skipped": 4,
        },
        "skipped": [{"what": "knows 'a' -> 'b'", "why": "no user"}],
        "seconds": 2.0,
        "dry_run": False,
    }
