"""A call has a class of trust, which the host binds: it is stored with what the call writes."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from kgagent import InputError, KnowledgeGraph
from kgagent.adapters.langchain import KnowledgeGraphRetriever
from kgagent.answers.trust_mark import UNKNOWN_SOURCE
from kgagent.trust import TRUSTS, Trust, level
from tests.support.payloads import succeeded
from tests.support.people import remembered
from tests.support.stored import Properties, cypher

TEXT = "Ruth: The cedar shed of {} leaks in autumn."
QUERY = "what leaks in the cedar shed in autumn?"


async def write_as(graph: KnowledgeGraph, user_id: str, trust: Trust) -> None:
    """A note, a description, a bare relationship and a source with its passage, by one call each."""
    tools = graph.tools(user_id=user_id, trust=trust)
    told = f"said by {trust}"
    await remembered(
        tools,
        [
            {"label": "Person", "name": f"Ada {trust}", "description": f"Leaky cedar {told}."},
            {"label": "Entity", "name": f"Shed {trust}"},
        ],
        [
            {
                "from": f"Ada {trust}",
                "to": f"Shed {trust}",
                "relationship_type": f"leaks {trust}",
                "notes": [f"The cedar leaks in autumn, {told}."],
            }
        ],
    )
    await graph.add_source(f"Call {trust}", TEXT.format(trust), user_id=user_id, trust=trust)


async def statement_entries(graph: KnowledgeGraph, user_id: str) -> list[Properties]:
    rows = await cypher(
        graph,
        "MATCH (n:KgagentStatement {user_id: $user}) RETURN properties(n) AS one",
        user=user_id,
    )
    return [row["one"] for row in rows]


async def texts(graph: KnowledgeGraph, user_id: str, **options: Any) -> str:
    found = await graph.search(QUERY, user_id=user_id, limit=100, **options)
    explored = await graph.explore(
        QUERY, user_id=user_id, text_matches=["Ada unknown", "Ada own"], **options
    )
    return json.dumps([found.to_dict(), explored.to_dict()], ensure_ascii=False)


async def found_classes(graph: KnowledgeGraph, user_id: str, least: Trust | None) -> set[Trust]:
    """The classes of which all statements are found; of the others none is."""
    found = await texts(graph, user_id, **({"min_trust": least} if least else {}))
    classes: set[Trust] = set()
    for trust in TRUSTS:
        said = (
            f"Leaky cedar said by {trust}.",
            f"The cedar leaks in autumn, said by {trust}.",
            TEXT.format(trust),
            f"leaks {trust}",
        )
        assert len({text in found for text in said}) == 1, trust
        classes |= {trust} if said[0] in found else set()
    return classes


@pytest.fixture
async def three(graph: KnowledgeGraph, user_id: str) -> KnowledgeGraph:
    """A graph with statements of each class."""
    for trust in TRUSTS:
        await write_as(graph, user_id, trust)
    return graph


@pytest.mark.parametrize("least", [None, *TRUSTS])
async def test_a_search_finds_what_is_trusted_so_far_at_least(
    three: KnowledgeGraph, user_id: str, least: Trust | None
) -> None:
    found = await found_classes(three, user_id, least)
    assert found == {one for one in TRUSTS if least is None or level(one) >= level(least)}
    matches = await three.retrieval.relationship_vector_search(
        QUERY, -1.0, user_id=user_id, min_trust=least
    )
    assert len(matches) == len(TRUSTS) - level(least if least else "unknown")


async def test_the_class_is_a_number_of_the_entries_and_absent_where_it_is_own(
    three: KnowledgeGraph, user_id: str
) -> None:
    entries = await statement_entries(three, user_id)
    for trust in TRUSTS:
        of_class = [one for one in entries if f" {trust}" in f"{one['text']} {one['names']}"]
        assert {one["trust"] for one in of_class} == {level(trust)}, trust
    stored = await cypher(
        three,
        "MATCH (n:Person|Entity|Source {user_id: $user}) OPTIONAL MATCH (n)-[r]->() "
        "RETURN n.name AS name, n.trust_class AS trust, r.trust_class AS other, r.notes AS notes",
        user=user_id,
    )
    for row in stored:
        trust = row["name"].split()[-1]
        assert row["trust"] == (None if trust == "own" else trust)
        assert row["other"] in (row["trust"], None)
        assert ('"trust"' in (row["notes"] or "")) is (bool(row["notes"]) and trust != "own")


async def test_an_answer_marks_what_rests_only_on_unknown_sources(
    three: KnowledgeGraph, user_id: str
) -> None:
    tools = three.tools(user_id=user_id)
    answer = await tools["hybrid_search"].call_text(
        {"query": QUERY, "token_budget": 8_000, "limit": 100}
    )
    lines = answer.text.splitlines()
    for trust in TRUSTS:
        of_class = [line for line in lines if f" {trust}" in line.replace(UNKNOWN_SOURCE, "")]
        assert len(of_class) >= 3
        marks = [UNKNOWN_SOURCE in line for line in of_class]
        assert marks == [trust == "unknown"] * len(of_class), of_class
    call = await tools["read_source"].call_text({"entity_key": "Call unknown"})
    assert call.text.splitlines()[0].startswith(f"Call unknown (Source) ({UNKNOWN_SOURCE}), ")
    retriever = KnowledgeGraphRetriever(graph=three, user_id=user_id, k=50)
    for document in await retriever.ainvoke(QUERY):
        said = [line for line in document.page_content.splitlines() if "cedar" in line]
        assert all((UNKNOWN_SOURCE in line) is ("unknown" in line) for line in said), said
    payload = succeeded(await tools.hybrid_search(query=QUERY, token_budget=20_000))
    for item in (*payload["objects"], *payload["relationships"]):
        for trust in ("known", "unknown"):
            is_of_class = f" {trust}" in str(item)
            assert (item.get("trust") == trust) is is_of_class
            assert all(
                (note.get("trust") == trust) is is_of_class for note in item.get("notes", ())
            )


async def test_the_host_binds_what_tools_find_and_the_model_cannot_choose(
    three: KnowledgeGraph, user_id: str
) -> None:
    tools = three.tools(user_id=user_id, min_trust="known")
    for name, asked in (("hybrid_search", {"query": QUERY}), ("explore", {"queries": [QUERY]})):
        answer = await tools[name].call_text({**asked, "token_budget": 4_000})
        assert "said by known" in answer.text
        assert "unknown" not in answer.text
        refused = await tools[name].call_text({**asked, "min_trust": "unknown"})
        assert refused.is_error
        assert "min_trust" not in json.dumps(tools[name].arguments.model_json_schema())
    with pytest.raises(InputError, match="trust must be own, known or unknown, got 'high'"):
        three.tools(user_id=user_id, trust="high")  # type: ignore[arg-type]


async def classes(graph: KnowledgeGraph, user_id: str) -> dict[str, str]:
    """The class of each description and note by its text."""
    nodes = await cypher(
        graph,
        "MATCH (n:Person|Source {user_id: $user}) "
        "RETURN n.description AS text, n.trust_class AS trust, n.notes AS notes",
        user=user_id,
    )
    found = {row["text"]: row["trust"] or "own" for row in nodes}
    for row in nodes:
        for note in json.loads(row["notes"] or "[]"):
            found[note["content"]] = note.get("trust", "own")
    return found


async def test_what_is_said_again_has_the_higher_class_and_what_is_changed_that_of_the_call(
    graph: KnowledgeGraph, user_id: str
) -> None:
    bound = {trust: graph.tools(user_id=user_id, trust=trust) for trust in get_args(Trust)}
    said = {"label": "Person", "name": "Ada", "description": "Builds boats.", "notes": ["Rows."]}
    for trust, expected in (("unknown", "unknown"), ("known", "known"), ("unknown", "known")):
        succeeded(await bound[trust].remember(nodes=[said]))
        assert await classes(graph, user_id) == {"Builds boats.": expected, "Rows.": expected}
    succeeded(await bound["own"].remember(nodes=[{**said, "description": "", "notes": []}]))
    assert (await classes(graph, user_id))["Builds boats."] == "known"
    succeeded(await bound["own"].remember(nodes=[said]))
    assert set((await classes(graph, user_id)).values()) == {"own"}
    eve = {"label": "Person", "name": "Eve", "description": "Owns the bank."}
    succeeded(await bound["unknown"].remember(nodes=[eve]))
    succeeded(await bound["own"].update_node(entity_key="Eve", description="Robs the bank."))
    found = await classes(graph, user_id)
    assert (found["Robs the bank."], found.get("Owns the bank.")) == ("own", None)
    entries = {one["text"]: one["trust"] for one in await statement_entries(graph, user_id)}
    assert entries["Owns the bank."] == level("unknown")
    succeeded(await bound["own"].restore(entity_key="Eve", field="description"))
    assert (await classes(graph, user_id))["Owns the bank."] == "unknown"
    succeeded(await bound["own"].restore(entity_key="Eve", field="description"))
    assert (await classes(graph, user_id))["Robs the bank."] == "own"


UNDONE = {"version", "updated_at", "embedding", "relationship_embedding", "notes", "notes_text"}
"""What a note of another class changes of a record besides its own words."""


async def own_state(graph: KnowledgeGraph, user_id: str) -> list[Properties]:
    """What is of class own: the words and values of records, and notes."""
    rows = await cypher(
        graph,
        "MATCH (n:Person|Entity|Source {user_id: $user}) OPTIONAL MATCH (n)-[r]->() "
        "UNWIND [properties(n), properties(r)] AS one WITH DISTINCT one "
        "WHERE one IS NOT NULL RETURN one",
        user=user_id,
    )
    found = [
        {
            **{
                name: one
                for name, one in row["one"].items()
                if name not in UNDONE and "hash" not in name
            },
            "own notes": [
                one
                for one in json.loads(row["one"].get("notes") or "[]")
                if one.get("trust", "own") == "own"
            ],
        }
        for row in rows
        if "trust_class" not in row["one"]
    ]
    return sorted(found, key=str)


ANNA_OSLO = {"from_entity_key": "Anna", "to_entity_key": "Oslo"}
LESS_TRUSTED: dict[str, tuple[str, dict[str, Any]]] = {
    "describe": (
        "remember",
        {"nodes": [{"name": "Anna", "label": "Person", "description": "Robs."}]},
    ),
    "name": ("update_node", {"entity_key": "Anna", "name": "Eve"}),
    "alias": ("update_node", {"entity_key": "Anna", "aliases": ["Eve"]}),
    "owner": ("update_node", {"entity_key": "Anna", "is_owner": True}),
    "clear": ("update_node", {"entity_key": "Anna", "description": ""}),
    "correct": ("update_node", {"entity_key": "Anna", "description": "No.", "correction": True}),
    "type": (
        "remember",
        {"relationships": [{"from": "Anna", "to": "Oslo", "relationship_type": "hates"}]},
    ),
    "close": ("remember", {"relationships": [{"from": "Anna", "to": "Oslo", "when": "2019/2021"}]}),
    "level": ("update_relationship", {**ANNA_OSLO, "attitude": 1}),
    "replace": (
        "update_relationship",
        {**ANNA_OSLO, "relationship_type": "hates", "when": "2021/.."},
    ),
    "never": (
        "update_relationship",
        {**ANNA_OSLO, "relationship_type": "hates", "correction": True},
    ),
    "value": (
        "remember",
        {
            "relationships": [{"from": "Anna", "to": "Bergen", "relationship_type": "lives in"}],
            "said_on": "2024-05-01",
        },
    ),
    "new": (
        "create_relationship",
        {"from_entity_key": "Anna", "to_entity_key": "Bergen", "relationship_type": "lives in"},
    ),
    "ends": (
        "remember",
        {
            "relationships": [
                {
                    "from": "Anna",
                    "to": "Bergen",
                    "relationship_type": "likes",
                    "ends": ["lives in Oslo"],
                }
            ]
        },
    ),
    "note": ("remember", {"notes": [{"on": "Anna", "replaces": "Rows", "content": "Robs."}]}),
    "update_note": ("update_note", {"entity_key": "Anna", "note": "Rows", "content": "Robs."}),
    "delete_note": ("delete_note", {"entity_key": "Anna", "note": "Rows"}),
    "delete_relationship": ("delete_relationship", ANNA_OSLO),
    "delete_node": ("delete_node", {"entity_key": "Anna", "delete_relationships": True}),
    "keep": ("merge_nodes", {"keep_entity_key": "Anna", "drop_entity_key": "Eva"}),
    "drop": ("merge_nodes", {"keep_entity_key": "Eva", "drop_entity_key": "Anna"}),
    "return": ("restore", {"entity_key": "Ghost"}),
    "restore": ("restore", {"entity_key": "Anna", "field": "description"}),
    "source": ("remember", {"source": "Call", "source_text": "Ruth: Robs."}),
}


@pytest.fixture
async def own_facts(graph: KnowledgeGraph, user_id: str) -> KnowledgeGraph:
    """What the user said, and a node of an unknown source."""
    own = graph.tools(user_id=user_id, trust="own")
    people = [
        {"label": "Person", "name": "Anna", "description": "Mends sails.", "notes": ["Rows."]},
        {"label": "Person", "name": "Ghost"},
        *({"label": "Entity", "name": name} for name in ("Oslo", "Bergen")),
    ]
    lives = {
        "from": "Anna",
        "to": "Oslo",
        "relationship_type": "lives in",
        "description": "Anna has a flat in Oslo.",
        "attitude": 5,
    }
    succeeded(await own.remember(nodes=people, relationships=[lives], said_on="2023-02-01"))
    succeeded(await own.update_node(entity_key="Anna", description="Builds boats."))
    succeeded(await own.delete_node(entity_key="Ghost"))
    await graph.add_source("Call", "Ruth: Rows.", user_id=user_id)
    await remembered(
        graph.tools(user_id=user_id, trust="unknown"), [{"label": "Person", "name": "Eva"}]
    )
    return graph


@pytest.mark.parametrize("case", LESS_TRUSTED)
async def test_a_call_of_a_lower_class_changes_nothing_of_a_higher_one_and_says_so(
    own_facts: KnowledgeGraph, user_id: str, case: str
) -> None:
    tool, arguments = LESS_TRUSTED[case]
    before = await own_state(own_facts, user_id)
    answer = await own_facts.tools(user_id=user_id, trust="unknown")[tool].call_text(arguments)
    assert "is of class own and the call only of class unknown" in answer.text
    assert await own_state(own_facts, user_id) == before
    report = await own_facts.diagnose(user_id=user_id)
    assert [one.message for one in report.findings if "statements" in one.message] == []


async def test_what_a_lower_class_says_otherwise_is_a_note_of_its_class(
    own_facts: KnowledgeGraph, user_id: str
) -> None:
    unknown = own_facts.tools(user_id=user_id, trust="unknown")
    node = {"label": "Person", "name": "Anna", "description": "Robs banks.", "aliases": ["Eve"]}
    hates = {
        "from": "Anna",
        "to": "Oslo",
        "relationship_type": "hates",
        "attitude": 1,
        "when": "2021",
        "description": "It rains.",
    }
    for _ in range(2):
        succeeded(await unknown.remember(nodes=[node], relationships=[hates]))
    found = await unknown["get_relationship"].call_text({**ANNA_OSLO, "format": "json"})
    [note] = json.loads(found.text)["relationship"]["notes"]
    assert re.fullmatch(r"Anna hates Oslo \([\w-]+\)\. It rains\.", note["content"])
    assert (note["when"], note["trust"]) == ("2021", "unknown")
    assert (await classes(own_facts, user_id))["Robs banks."] == "unknown"
    again = {"label": "Person", "name": "Anna", "description": "Builds boats.", "notes": ["Rows."]}
    answer = await unknown["remember"].call_text({"nodes": [again]})
    assert "class" not in answer.text
    assert (await classes(own_facts, user_id))["Builds boats."] == "own"


@pytest.mark.parametrize("first", ["own", "unknown"])
async def test_values_of_two_classes_of_which_one_can_hold_are_a_conflict(
    graph: KnowledgeGraph, user_id: str, first: Trust
) -> None:
    said = {"own": ("Oslo", "2023-02-01"), "unknown": ("Bergen", "2024-05-01")}
    order: tuple[Trust, ...] = ("own", "unknown") if first == "own" else ("unknown", "own")
    for trust in order:
        place, day = said[trust]
        tools = graph.tools(user_id=user_id, trust=trust)
        nodes = [{"label": "Person", "name": "Anna"}, {"label": "Entity", "name": place}]
        lives = {"from": "Anna", "to": place, "relationship_type": "lives in"}
        succeeded(await tools.remember(nodes=nodes, relationships=[lives], said_on=day))
    own = graph.tools(user_id=user_id)
    answer = await own["hybrid_search"].call_text({"query": "Where does Anna live?"})
    lines = [line for line in answer.text.splitlines() if "conflicts with" in line]
    assert len(lines) == 2
    assert "past" not in answer.text
    findings = (await graph.diagnose(user_id=user_id)).findings
    assert any("1 conflict" in one.message for one in findings)
    lives = {"from": "Anna", "to": "Oslo", "relationship_type": "lives in"}
    ended = {**lives, "ends": ["lives in Bergen"]}
    answer = await own["remember"].call_text({"relationships": [ended], "said_on": "2024-06-01"})
    assert "Anna lives in Bergen" in answer.text
    findings = (await graph.diagnose(user_id=user_id)).findings
    assert not any("conflict" in one.message for one in findings)


async def test_of_a_relationship_all_that_it_has_is_said_again(
    graph: KnowledgeGraph, user_id: str
) -> None:
    unknown, own = (graph.tools(user_id=user_id, trust=trust) for trust in ("unknown", "own"))
    ends = [{"label": "Person", "name": "Ada"}, {"label": "Person", "name": "Tom"}]
    robbed = {"from": "Ada", "to": "Tom", "relationship_type": "robbed"}
    await remembered(unknown, ends, [{**robbed, "attitude": 1, "when": "2001"}])
    between = {"from_entity_key": "Ada", "to_entity_key": "Tom"}
    for said, expected in (
        (own.update_relationship(**between, description="Ada met Tom."), "unknown"),
        (own.remember(relationships=[{**robbed, "description": "Ada met Tom."}]), "unknown"),
        (own.update_relationship(**between, attitude=1, when="2001"), "unknown"),
        (
            own.remember(
                relationships=[
                    {**robbed, "description": "Ada met Tom.", "attitude": 1, "when": "2001"}
                ]
            ),
            None,
        ),
    ):
        succeeded(await said)
        found = await own.get_relationship(**between)
        assert found["relationship"].get("trust") == expected


async def test_what_names_a_source_is_trusted_no_more_than_that(
    graph: KnowledgeGraph, user_id: str
) -> None:
    await graph.add_source("Forum", "Anon: Ada robs.", user_id=user_id, trust="unknown")
    tools = graph.tools(user_id=user_id)
    ada = {"label": "Person", "name": "Ada", "description": "Robs banks.", "notes": ["Robs."]}
    succeeded(await tools.remember(nodes=[ada], source="Forum"))
    note = {"on": "Ada", "content": "Robbed again.", "source_entity_key": "Forum"}
    succeeded(await tools.remember(notes=[note, {"on": "Ada", "content": "Is tall."}]))
    found = await classes(graph, user_id)
    assert {found[text] for text in ("Robs banks.", "Robs.", "Robbed again.")} == {"unknown"}
    assert found["Is tall."] == "own"


async def test_a_source_whose_text_another_class_replaces(
    graph: KnowledgeGraph, user_id: str
) -> None:
    async def stored(text: str, trust: Trust, **more: Any) -> str:
        node = await graph.add_source("Call", text, user_id=user_id, trust=trust, **more)
        return node.trust or "own"

    assert await stored("Ruth: Two.", "unknown", description="A call.") == "unknown"
    assert await stored("Ruth: Three.", "own") == "unknown"
    assert await stored("Ruth: Three.", "own", description="A call.") == "own"
    assert await stored("Ruth: Three.", "unknown") == "own"
    with pytest.raises(InputError, match="Not changed: source_text of Call; this is of class own"):
        await stored("Ruth: Two.", "unknown")


async def test_an_export_keeps_the_classes_and_an_import_raises_none(
    three: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    await three.export(first, user_id=user_id)
    await three.forget(user_id=user_id)
    await three.import_records(first)
    await three.export(second, user_id=user_id)
    assert second.read_bytes() == first.read_bytes()
    assert await found_classes(three, user_id, "known") == {"known", "own"}
    assert (await three.migrate(user_id=user_id, dry_run=True)).nodes.updated == 0
    own = three.tools(user_id=user_id, trust="own")
    description = "Leaky cedar said by unknown."
    person = {"label": "Person", "name": "Ada unknown", "description": description}
    succeeded(await own.remember(nodes=[person]))
    await three.export(first, user_id=user_id)
    assert (await classes(three, user_id))[description] == "own"
    await three.import_records(second, overwrite=True)
    assert (await classes(three, user_id))[description] == "unknown"
    await three.import_records(first, overwrite=True)
    assert (await classes(three, user_id))[description] == "unknown"


async def test_a_merge_raises_nothing_and_a_restoration_gives_back(
    graph: KnowledgeGraph, user_id: str
) -> None:
    own, unknown = (graph.tools(user_id=user_id, trust=trust) for trust in ("own", "unknown"))
    keys = await remembered(
        own, [{"label": "Source", "name": "Call", "notes": ["Kept."]}]
    ) | await remembered(
        unknown,
        [{"label": "Source", "name": "Talk", "description": "A talk.", "notes": ["Told."]}],
    )
    await graph.add_source("Talk", "Ruth: The shed leaks.", user_id=user_id, trust="unknown")
    before = await classes(graph, user_id)
    succeeded(await own.merge_nodes(keep_entity_key=keys["Call"], drop_entity_key=keys["Talk"]))
    assert await classes(graph, user_id) == {
        "A talk.": "unknown",
        "Kept.": "own",
        "Told.": "unknown",
    }
    assert "The shed leaks" not in await texts(graph, user_id, min_trust="known")
    succeeded(await own.restore(entity_key=keys["Talk"]))
    assert await classes(graph, user_id) == before


async def test_files_and_the_process_have_a_class(
    graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    lines, page = tmp_path / "lines.jsonl", tmp_path / "page.md"
    node = {"kind": "node", "label": "Person", "id": "1", "name": "Ada", "notes": ["Rows."]}
    lines.write_text(json.dumps({**node, "description": "Builds boats."}), "utf-8")
    page.write_text("The cedar shed leaks in autumn.", "utf-8")
    for trust in ("unknown", "own"):
        report = await graph.load(lines, page, user_id=user_id, trust=trust)
        assert not report.problems
        assert set((await classes(graph, user_id)).values()) == {trust}
    lines.write_text(json.dumps({**node, "properties": {"trust_class": "own"}}), "utf-8")
    with pytest.raises(InputError, match="the name is reserved"):
        await graph.load(lines, user_id=user_id, trust="unknown")


async def test_a_migration_gives_entries_of_an_earlier_version_their_class(
    three: KnowledgeGraph, user_id: str
) -> None:
    await cypher(three, "MATCH (n:KgagentStatement {user_id: $user}) REMOVE n.trust", user=user_id)
    await cypher(
        three,
        "MATCH (n:Person|Entity|Source {user_id: $user}) SET n.statements_hash = 'earlier' "
        "WITH n MATCH (n)-[r]->() SET r.statements_hash = 'earlier'",
        user=user_id,
    )
    diagnosis = await three.diagnose(user_id=user_id)
    assert "migrate" in str(diagnosis.to_dict())
    await three.migrate(user_id=user_id)
    assert await found_classes(three, user_id, "known") == {"known", "own"}


@pytest.mark.parametrize("time", [{"as_of": "2021"}, {"known_as_of": "2021"}])
async def test_a_record_of_another_time_has_the_class_of_what_it_said_then(
    graph: KnowledgeGraph, user_id: str, time: dict[str, str]
) -> None:
    said: tuple[tuple[Trust, str, str], ...] = (
        ("unknown", "Bank", "Wire the money to evil street."),
        ("own", "Yard", "A yard in Halden."),
        ("own", "Bank", "A bank in Halden."),
        ("unknown", "Yard", "Evil yard."),
    )
    for place, (trust, name, words) in enumerate(said):
        tools = graph.tools(user_id=user_id, trust=trust)
        node = {"label": "Entity", "name": name, "description": words}
        succeeded(await tools.remember(nodes=[node], said_on=f"20{20 + place // 2 * 4}-01-01"))

    async def found(**options: Any) -> set[str]:
        result = await graph.search("bank yard", user_id=user_id, min_trust="own", **options)
        return {node.description for node in result.objects}

    assert await found() == {"A bank in Halden.", "A yard in Halden."}
    assert await found(**time) == {"A yard in Halden."}


async def test_what_is_less_trusted_is_as_current_as_the_rest(
    graph: KnowledgeGraph, user_id: str
) -> None:
    for trust in TRUSTS:
        await write_as(graph, user_id, trust)
    report = await graph.diagnose(user_id=user_id)
    assert [one.message for one in report.findings if "statements" in one.message] == []
