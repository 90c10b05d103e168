"""init, status, load, explore, migrate, purge and doctor."""

import json
from pathlib import Path

import neo4j
import pytest

from kgagent import SyncKnowledgeGraph
from kgagent.settings import load_settings
from tests.conftest import Server
from tests.integration.cli.conftest import Kgagent


def test_init_is_idempotent_and_says_what_is_online(kgagent: Kgagent, server: Server) -> None:
    assert kgagent("init").code == 0
    done = kgagent("init", "--json")
    assert done.code == 0
    assert done.payload["uri"] == server.uri
    assert "kgagent_relationship_text" in done.payload["parts"]


def test_status_shows_server_and_embedder_but_no_secret(
    kgagent: Kgagent, environment: dict[str, str]
) -> None:
    secret = "sk-never-to-be-seen"
    done = kgagent(
        "status",
        "--json",
        settings=environment | {"OPENAI_API_KEY": secret, "KGAGENT_EMBEDDER": "openai"},
    )
    assert done.code == 0
    assert (done.payload["running"], done.payload["server"]) == (True, "NEO4J_URI")
    assert done.payload["embedder"].startswith("openai text-embedding-3-small")
    assert secret not in done.out + done.err
    assert (
        not environment["NEO4J_PASSWORD"]
        or environment["NEO4J_PASSWORD"] not in done.out + done.err
    )


def test_unreachable_server_exits_with_1_without_traceback(
    program: Kgagent, environment: dict[str, str]
) -> None:
    nowhere = environment | {"NEO4J_URI": "bolt://127.0.0.1:1"}
    done = program("explore", "x", settings=nowhere)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith(
        "The graph cannot be reached: Neo4j at bolt://127.0.0.1:1 cannot be used"
    )
    status = program("status", "--json", settings=nowhere)
    assert (status.code, status.payload["running"]) == (1, False)


def test_invalid_setting_is_one_line(kgagent: Kgagent, environment: dict[str, str]) -> None:
    done = kgagent("init", settings=environment | {"KGAGENT_EMBEDDER": "magic"})
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert done.err.startswith("Invalid settings: KGAGENT_EMBEDDER must be ")


def test_load_then_explore_finds_through_the_relationship(kgagent: Kgagent, family: Path) -> None:
    loaded = kgagent("load", str(family), "--json")
    assert loaded.code == 0
    assert loaded.payload["nodes"]["created"] == 3
    counts = {"created": 1, "updated": 0, "unchanged": 0, "ended": 0}
    assert loaded.payload["relationships"] == counts
    found = kgagent("explore", "who are my mentors?", "--json")
    assert found.code == 0
    assert found.payload["relationships"][0]["relationship_type"] == "mentor"
    assert "Ruth Adeyemi" in {item["node"]["name"] for item in found.payload["nodes"]}
    assert "embedding" not in found.out
    shown = kgagent("explore", "who are my mentors?")
    lines = shown.out.splitlines()
    assert len(lines) <= 11
    assert any("Ruth Adeyemi (Person) -[mentor" in line for line in lines)
    assert "\x1b" not in shown.out
    everything = kgagent("explore", "who are my mentors?", "--all")
    assert set(lines) <= set(everything.out.splitlines())


def test_load_lists_lines_that_it_keeps_as_notes(kgagent: Kgagent, family: Path) -> None:
    back = {"kind": "relationship", "from": "ines", "to": "ruth", "relationship_type": "pupil of"}
    with family.open("a", encoding="utf-8") as file:
        file.write(f"\n{json.dumps(back)}\n")
    loaded = kgagent("load", str(family))
    assert loaded.code == 0
    assert "1 remark:" in loaded.out
    assert "'Ines Halloran pupil of Ruth Adeyemi' is kept as a note" in loaded.out


def test_search_ranks_nodes_and_relationships_in_one_list(kgagent: Kgagent, family: Path) -> None:
    assert kgagent("load", str(family)).code == 0
    found = kgagent("search", "who are my mentors?", "--json")
    assert "Ruth Adeyemi" in {item["name"] for item in found.payload["objects"]}
    assert any(
        item["triplet_text"].startswith("Ruth Adeyemi mentor")
        for item in found.payload["relationships"]
    )
    assert "embedding" not in found.out
    shown = kgagent("search", "who are my mentors?")
    assert "Ruth Adeyemi (Person) -[mentor" in shown.out
    assert len(kgagent("search", "who are my mentors?", "--limit", "2").out.splitlines()) == 2
    explained = kgagent("search", "who are my mentors?", "--explain").out.splitlines()
    assert explained[::2] == shown.out.splitlines()
    for line, sum_of in zip(explained[::2], explained[1::2], strict=True):
        total, _, parts = sum_of.partition(" = ")
        assert f" {float(total):.2f}" in line
        added = [float(part) for part in parts.split()[::2]]
        assert sum(added) == pytest.approx(float(total), abs=0.002)
    context = kgagent("search", "who are my mentors?", "--token-budget", "200")
    assert "Ruth Adeyemi (Person) -[" in context.out
    assert kgagent("search", "mentor", "--no-relationships", "--json").payload.keys() == {
        "user",
        "objects",
    }
    assert not kgagent("search", "mentor", "--between", "1850/1851", "--json").payload.get(
        "relationships"
    )
    nobody = kgagent("search", "mentor", "--user", "nobody-of-that-name")
    assert (nobody.code, nobody.out.startswith("Nothing found in the graph of user nobody")) == (
        0,
        True,
    )


def test_likely_duplicates_are_listed_with_the_reason(kgagent: Kgagent, tmp_path: Path) -> None:
    names = ["Ruth Adeyemi", "Ruth Adéyemi", *(f"Person {number}" for number in range(8))]
    file = tmp_path / "people.jsonl"
    lines = ({"kind": "node", "label": "Person", "id": name, "name": name} for name in names)
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    assert kgagent("load", str(file)).code == 0
    [pair] = kgagent("duplicates", "--json").payload["duplicates"]
    assert {pair["first"]["name"], pair["second"]["name"]} == set(names[:2])
    [line] = kgagent("duplicates").out.splitlines()
    assert "names: " in line
    assert " ~ " in line
    assert kgagent("duplicates", "--threshold", "0.99").out.startswith("No two nodes of user")


def test_search_and_explore_show_the_note_that_matches_and_filter_by_time(
    kgagent: Kgagent, tmp_path: Path
) -> None:
    others = [{"content": f"They had tea, part {number}.", "when": "2024"} for number in range(8)]
    sailing = {"content": "Ruth lent Ines her sailing boat.", "when": "2019"}
    lines = [
        {"kind": "node", "label": "Person", "id": "ruth", "name": "Ruth Adeyemi"},
        {"kind": "node", "label": "Person", "id": "ines", "name": "Ines Holm"},
        {
            "kind": "relationship",
            "from": "ruth",
            "to": "ines",
            "relationship_type": "mentor",
            "notes": [sailing, *others],
        },
    ]
    file = tmp_path / "notes.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    assert kgagent("load", str(file)).code == 0
    question = "who lent a sailing boat?"
    for arguments in (("search",), ("explore",), ("search", "--token-budget", "500")):
        best = kgagent(*arguments, question).out.splitlines()[0]
        assert best.startswith("Ruth Adeyemi (Person) -[mentor]-> Ines Holm (Person) ")
        assert ": Ruth lent Ines her sailing boat. (2019)" in best
    for command in ("search", "explore"):
        [relationship] = kgagent(command, question, "--json").payload["relationships"]
        first, *others = [note["content"] for note in relationship["notes"]]
        assert first == "Ruth lent Ines her sailing boat."
        assert len(others) + relationship["omitted_notes"] == 8
        assert len(others) < relationship["omitted_notes"]
        filtered = kgagent(command, question, "--between", "2024", "--json")
        assert "sailing boat" not in filtered.out
        assert filtered.payload["relationships"]
        assert not kgagent(command, question, "--min-attitude", "1", "--json").payload.get(
            "relationships"
        )
        nothing = kgagent(command, question, "--between", "1999")
        assert nothing.out.endswith(" that the filters keep.\n")


def test_search_reads_another_owner_and_says_whose_each_line_is(
    kgagent: Kgagent, family: Path, user_id: str
) -> None:
    assert kgagent("load", str(family)).code == 0
    asked = ("search", "mentor", "--user", f"{user_id}-guest")
    assert "Ruth" not in kgagent(*asked).out
    shared = kgagent(*asked, "--readable", user_id)
    assert f"of {user_id}" in shared.out.splitlines()[0]
    found = kgagent(*asked, "--readable", user_id, "--json").payload
    assert {one["owner"] for one in found["objects"]} == {user_id}


def test_explore_by_name_and_label_and_of_another_user(kgagent: Kgagent, family: Path) -> None:
    assert kgagent("load", str(family)).code == 0
    by_name = kgagent("explore", "--text-match", "Ruth", "--label", "Person", "--json")
    assert by_name.payload["nodes"][0]["node"]["name"] == "Ruth Adeyemi"
    nobody = kgagent("explore", "mentor", "--user", "nobody-of-that-name")
    assert (nobody.code, nobody.out.startswith("Nothing found in the graph of user nobody")) == (
        0,
        True,
    )
    assert "kgagent doctor --user nobody-of-that-name" in " ".join(nobody.out.split())
    unknown = kgagent("explore", "mentor", "--label", "Persn")
    assert (unknown.code, unknown.err.startswith("Unknown label: Persn")) == (1, True)


def test_invalid_lines_are_listed_and_the_others_loaded_with_exit_code_1(
    kgagent: Kgagent, family: Path
) -> None:
    family.write_text(
        family.read_text("utf-8") + '\nnot json\n{"kind": "node", "label": "Nope", "name": "[x]"}\n'
    )
    done = kgagent("load", str(family))
    assert done.code == 1
    assert "2 lines could not be loaded" in done.out
    assert "line 5: not JSON" in done.out
    assert "line 6: Unknown label: Nope" in done.out
    assert kgagent("load", str(family), "--json").payload["nodes"]["unchanged"] == 3


def test_migrate_and_doctor_find_no_problems_on_a_current_graph(
    kgagent: Kgagent, family: Path, user_id: str
) -> None:
    assert kgagent("load", str(family)).code == 0
    migrated = kgagent("migrate", "--dry-run", "--user", user_id, "--json")
    assert migrated.code == 0
    assert migrated.payload["total"]["up_to_date"] == 4
    assert kgagent("migrate", "--user", user_id).out.startswith("3 nodes: 0 embedded")
    examined = kgagent("doctor", "--user", user_id, "--json")
    assert (examined.code, examined.payload["is_healthy"]) == (0, True)
    assert "No problems found." in kgagent("doctor", "--user", user_id).out


def test_restore_undoes_what_an_agent_deleted(
    kgagent: Kgagent,
    family: Path,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    user_id: str,
) -> None:
    assert kgagent("load", str(family)).code == 0
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    ruth, ines = "Ruth Adeyemi", "Ines Halloran"
    with SyncKnowledgeGraph.connect(settings=load_settings()) as graph:
        tools = graph.tools(user_id=user_id)
        assert tools.delete_relationship(from_entity_key=ruth, to_entity_key=ines)["success"]
        [deleted] = kgagent("restore", "--json").payload["relationships"]
        assert deleted["name"] == f"{ruth} mentor {ines}"
        assert " ".join(kgagent("restore", ines, ruth).out.split()) == (
            f"Restored relationship between {ines} and {ruth}. Its direction is from {ruth} to "
            f"{ines}"
        )
        assert tools.update_relationship(
            from_entity_key=ruth, to_entity_key=ines, relationship_type="rival"
        )["success"]
        done = kgagent("restore", ruth, ines, "--field", "relationship_type", "--json")
        assert done.payload["replaced"] == {"relationship_type": "rival"}
        assert "has no other name" in kgagent("restore", ruth, "--field", "name").err
        assert tools.delete_node(entity_key=ruth, delete_relationships=True)["success"]
    listed = kgagent("restore", "--json")
    [deleted] = listed.payload["nodes"]
    assert (deleted["name"], deleted["label"], listed.payload["relationships"]) == (
        ruth,
        "Person",
        [],
    )
    assert kgagent("restore").out.startswith(f"{ruth} (Person)  {deleted['entity_key']}  until 20")
    unknown = kgagent("restore", "Ruth A.")
    assert unknown.err.strip() == (
        "There is no deleted node 'Ruth A.' that can be restored. `kgagent restore` lists what can "
        "be restored"
    )
    done = kgagent("restore", ruth, "--json")
    assert (done.code, done.payload["relationships_restored"]) == (0, 1)
    assert kgagent("restore").out == f"User {user_id} has deleted nothing that can be restored\n"
    assert kgagent("restore", ruth).code == 1


def test_a_name_with_brackets_is_printed_as_it_is(
    kgagent: Kgagent, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, user_id: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    name = "Ruth [/foo] [bold]"
    with SyncKnowledgeGraph.connect(settings=load_settings()) as graph:
        tools = graph.tools(user_id=user_id)
        assert tools.create_node(label="Person", name=name)["success"]
        assert tools.delete_node(entity_key=name)["success"]
    assert name in kgagent("restore").out
    assert name in kgagent("restore", name).out
    assert name in kgagent("explore", "--text-match", name).out


def test_get_shows_a_relationship_with_its_notes_by_date_and_its_history(
    kgagent: Kgagent, tmp_path: Path
) -> None:
    people = [
        {"kind": "node", "label": "Person", "name": name, "id": name} for name in ("Ada", "Bo")
    ]
    notes = [{"content": "They row.", "when": "2023"}, {"content": "They met.", "when": "2019-05"}]
    friend = {
        "kind": "relationship",
        "from": "Ada",
        "to": "Bo",
        "relationship_type": "friend",
        "notes": notes,
    }
    path = tmp_path / "lines.jsonl"
    for description in ("They sail.", "They fly."):
        path.write_text(
            "\n".join(map(json.dumps, [*people, {**friend, "description": description}])), "utf-8"
        )
        assert kgagent("load", str(path)).code == 0
    shown = kgagent("get", "Ada", "Bo").out
    assert (
        shown.index("They fly.")
        < shown.index("They met. (2019-05)")
        < shown.index("They row. (2023)")
    )
    assert "- Former description (until " in shown
    assert (
        kgagent("get", "Bo", "Ada", "--json").payload["relationship"]["history"][0]["value"]
        == "They sail."
    )
    unknown = kgagent("get", "Eve")
    assert (unknown.code, unknown.err.count("\n")) == (1, 1)


@pytest.mark.alone
def test_purge_counts_and_removes_deleted_records_that_have_expired(
    kgagent: Kgagent, server: Server, user_id: str
) -> None:
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        driver.execute_query(
            "UNWIND [1, 2, 3] AS day CREATE (n:KgagentDeletedNode {user_id: $user}) "
            "SET n.kgagent_undo_until = datetime() + duration({days: day - 2, minutes: -1})",
            user=user_id,
        )
    counted = kgagent("purge", "--user", user_id, "--dry-run")
    assert (counted.code, counted.out) == (
        0,
        "2 deleted nodes and 0 deleted relationships would be purged\n",
    )
    purged = kgagent("purge", "--user", user_id, "--batch-size", "1", "--json")
    assert (purged.code, purged.payload) == (0, {"nodes": 2, "relationships": 0, "dry_run": False})
    assert (
        kgagent("purge", "--user", user_id).out
        == "0 deleted nodes and 0 deleted relationships purged\n"
    )


def test_doctor_exits_with_1_if_the_embedder_does_not_fit(
    kgagent: Kgagent, family: Path, environment: dict[str, str], user_id: str
) -> None:
    assert kgagent("load", str(family)).code == 0
    done = kgagent(
        "doctor",
        "--user",
        user_id,
        "--json",
        settings=environment | {"KGAGENT_EMBEDDER": "hashing"},
    )
    assert (done.code, done.payload["is_healthy"]) == (1, False)
