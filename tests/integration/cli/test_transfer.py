"""kgagent export on a real graph."""

from pathlib import Path

from tests.integration.cli.conftest import Kgagent


def test_export_writes_the_records_of_the_user(kgagent: Kgagent, family: Path, user_id: str, tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    assert kgagent("load", str(family)).code == 0
    done = kgagent("export", str(file), "--json")
    assert (done.code, done.payload["user"]) == (0, user_id)
    assert (done.payload["nodes"], done.payload["relationships"], done.payload["deleted"]) == (3, 1, 0)
    assert len(file.read_text("utf-8").splitlines()) == 6
    plain = kgagent("export", str(file), "--no-embeddings", "--user", user_id)
    assert plain.out.startswith("3 nodes, 1 relationship and 0 deleted records of 1 user exported, ")
    assert "embedding_hash" not in file.read_text("utf-8")


def test_export_of_one_user_and_of_all_exclude_each_other(kgagent: Kgagent, tmp_path: Path) -> None:
    done = kgagent("export", str(tmp_path / "x"), "--all-users", "--user", "me")
    assert (done.code, done.err) == (1, "Give either --user or --all-users\n")
