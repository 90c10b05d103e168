"""kgagent export, import and forget on a real graph."""

import shlex
from pathlib import Path

import neo4j

from tests.conftest import Server
from tests.integration.cli.conftest import Kgagent


def test_load_takes_several_files_of_other_programs(kgagent: Kgagent, user_id: str) -> None:
    files = [
        str(Path(__file__).parents[1] / "files" / "samples" / name)
        for name in ("memory.jsonl", "plays.csv")
    ]
    done = kgagent("load", *files, "--label", "Entity", "--json")
    assert (done.code, done.payload["files"], done.payload["user"]) == (1, files, user_id)
    assert (done.payload["nodes"]["created"], done.payload["relationships"]["created"]) == (3, 1)
    assert done.payload["problems"][0]["place"] == "memory.jsonl line 4"
    assert "memory.jsonl line 4: not understood" in " ".join(kgagent("load", *files).out.split())


def test_export_writes_the_records_of_the_user(
    kgagent: Kgagent, family: Path, user_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "records.jsonl"
    assert kgagent("load", str(family)).code == 0
    done = kgagent("export", str(file), "--json")
    assert (done.code, done.payload["user"]) == (0, user_id)
    assert (done.payload["nodes"], done.payload["relationships"], done.payload["deleted"]) == (
        3,
        1,
        0,
    )
    assert len(file.read_text("utf-8").splitlines()) == 6
    both = kgagent("export", str(file), "--all-users", "--user", "me")
    assert (both.code, both.err) == (1, "Give either --user or --all-users\n")
    plain = kgagent("export", str(file), "--no-embeddings", "--user", user_id)
    assert plain.out.startswith(
        "3 nodes, 1 relationship and 0 deleted records of 1 user exported, "
    )
    assert "embedding_hash" not in file.read_text("utf-8")


def forget_by_hand(server: Server, user_id: str) -> None:
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        driver.execute_query("MATCH (n:Person {user_id: $user}) DETACH DELETE n", user=user_id)


def test_a_table_is_loaded_with_the_columns_that_its_error_proposes(
    kgagent: Kgagent, tmp_path: Path
) -> None:
    file = tmp_path / "contacts.csv"
    file.write_text("Title;Firm\nAnn Lee;Acme\nBo Ek;Acme\n", "utf-8")
    refused = kgagent("load", str(file))
    assert refused.code == 1
    proposed = '--label Person --map "Title=name,Firm -> Entity"'
    assert proposed in " ".join(refused.err.split())
    done = kgagent("load", str(file), *shlex.split(proposed), "--json")
    assert (done.code, done.payload["nodes"]["created"]) == (0, 3)


def test_import_brings_the_records_back_and_lists_conflicts(
    kgagent: Kgagent, family: Path, user_id: str, server: Server, tmp_path: Path
) -> None:
    file = tmp_path / "records.jsonl"
    assert kgagent("load", str(family)).code == 0
    assert kgagent("export", str(file)).code == 0
    foreign = kgagent("import", str(file), "--user", f"{user_id}-other")
    assert (foreign.code, f"has the records of '{user_id}'" in foreign.err) == (1, True)
    forget_by_hand(server, user_id)
    done = kgagent("import", str(file), "--user", user_id, "--json")
    assert (done.code, done.payload["nodes"]["created"], done.payload["embedded"]) == (0, 2, 0)
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        driver.execute_query(
            "MATCH (n:Person {user_id: $user}) SET n.description = 'x'", user=user_id
        )
    refused = kgagent("import", str(file))
    assert refused.code == 1
    assert "the graph has another one with this key; overwrite replaces it" in " ".join(
        refused.out.split()
    )
    assert kgagent("import", str(file), "--overwrite").code == 0


def test_forget_asks_before_it_deletes(kgagent: Kgagent, family: Path, user_id: str) -> None:
    assert kgagent("load", str(family)).code == 0
    counted = kgagent("forget", "--user", user_id, "--dry-run")
    assert counted.out == "3 nodes, 1 relationship and 0 deleted records would be forgotten\n"
    refused = kgagent("forget", "--user", user_id)
    assert refused.code == 1
    assert "This cannot be undone. Continue?" in refused.err
    done = kgagent("forget", "--user", user_id, "--yes", "--json")
    assert (done.code, done.payload["nodes"], done.payload["relationships"]) == (0, 3, 1)
    assert kgagent("forget").code == 2
    unknown = kgagent("forget", "--user", user_id, "--key", "nothing", "--yes")
    assert (unknown.code, unknown.out) == (1, "")
    assert "Nothing is stored under the key 'nothing'" in unknown.err


def test_a_user_without_records_is_named(kgagent: Kgagent, user_id: str, tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    exported = kgagent("export", str(file), "--user", f"{user_id}-ghost", "--json")
    assert (exported.code, exported.payload["nodes"]) == (0, 0)
    assert " ".join(exported.err.split()).endswith(
        f"User {user_id}-ghost has no records: {file} has none"
    )
    forgotten = kgagent("forget", "--user", f"{user_id}-ghost", "--yes", "--json")
    assert (forgotten.code, forgotten.payload["nodes"]) == (0, 0)
    assert " ".join(forgotten.err.split()).endswith(f"User {user_id}-ghost has no records")


def test_a_search_leaves_out_files_that_are_trusted_less_than_it_asks_for(
    kgagent: Kgagent, family: Path
) -> None:
    assert kgagent("load", str(family), "--trust", "unknown").code == 0
    query = "who guides Ines in her career?"
    assert "(unknown source)" in kgagent("search", query).out
    assert "Ruth" not in kgagent("search", query, "--min-trust", "known").out
    refused = kgagent("load", str(family), "--trust", "high")
    assert (refused.code, refused.err) == (1, "trust must be own, known or unknown, got 'high'\n")
