"""The text of a source as passages: found, read, kept current, and gone with the source."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kgagent import InputError, KnowledgeGraph
from kgagent.models.passage import Passage
from kgagent.tools import Toolset
from tests.support.payloads import error_of, succeeded
from tests.support.people import remembered
from tests.support.stored import assert_embeddings_are_current

RAIN = (
    " We went on about the weather, the ferry and the price of bread for a while, as we always do "
    "when it rains and the line is bad, and nobody writes down any of that, as none of it will "
    "ever matter to anybody."
)
CALL = "\n\n".join(
    turn + RAIN
    for turn in (
        "Ruth: I moved the workshop to Lisbon in May, because the old roof leaked.",
        "Me: Does Theo still keep the varnish recipe?",
        "Ruth: He wrote it into the blue ledger, under amber and turpentine.",
        "Me: Then let us order the larch planks on Monday.",
    )
)
"""Turns that are too long to be one passage."""


async def passages(graph: KnowledgeGraph, user_id: str, query: str, **more: Any) -> list[str]:
    found = await graph.search(query, user_id=user_id, **more)
    scored = [
        (one.score, one.note.content)
        for item in found.objects
        for one in item.statements
        if isinstance(one.note, Passage)
    ]
    return [text for _, text in sorted(scored, reverse=True)]


async def test_each_turn_is_found_by_itself_with_its_date(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    source = await graph.add_source("Call with Ruth", CALL, user_id=user_id, said_on="2023-04-02")
    assert source.label == "Source"
    found = await passages(graph, user_id, "blue ledger amber turpentine")
    assert found[0].startswith("Ruth: He wrote it into the blue ledger")
    assert len(found) == 4
    answer = await tools["hybrid_search"].call_text({"query": "where is the workshop now?"})
    first = answer.text.splitlines()[0]
    assert first.startswith("Call with Ruth (Source), 2023-04-02 ")
    assert "“Ruth: I moved the workshop to Lisbon" in first
    assert CALL not in str(succeeded(await tools.hybrid_search(query="workshop")))
    [notes] = [item.notes for item in (await graph.search("ledger", user_id=user_id)).objects]
    assert notes[0].content == found[0]


FILLER = "The manual says much about bolts, gaskets and the paint of the cover. " * 28
MANUAL = f"""# Engine XR7

{FILLER}
Change the oil every 200 hours.

## Maintenance

Grease the pump in spring.

```
# no heading
```

# Gearbox

{FILLER}
Change the oil every 900 hours.

# Words

## Of others

None yet.

# Appendix
"""


async def test_a_passage_is_found_by_its_section_which_stands_before_its_words(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await graph.add_source("Manual", MANUAL, user_id=user_id)
    read = succeeded(await tools.read_source(entity_key="Manual", token_budget=8_000))["passages"]
    sections = [(one["section"], one["text"].split("\n")[0]) for one in read]
    assert [(name, line if line.startswith("#") else "") for name, line in sections] == [
        ("Engine XR7", "# Engine XR7"),
        ("Engine XR7", ""),
        ("Engine XR7 > Maintenance", "## Maintenance"),
        ("Gearbox", "# Gearbox"),
        ("Gearbox", ""),
        ("Words > Of others", "# Words"),
    ]
    assert all(MANUAL[one["start"] :].startswith(one["text"]) for one in read)
    for section, hours in (("Engine XR7", 200), ("Gearbox", 900)):
        query = f"{section}: change the oil every how many hours?"
        answer = await tools["hybrid_search"].call_text({"query": query})
        assert f"“Change the oil every {hours} hours." in answer.text
        [item] = (await graph.search(query, user_id=user_id)).objects
        best = item.statements[0].note
        assert isinstance(best, Passage)
        assert best.section == section
        assert f"every {hours} hours" in best.content
        assert best.content in MANUAL
    [found] = succeeded(await tools.hybrid_search(query="grease the pump"))["objects"]
    assert found["notes"][0]["section"] == "Engine XR7 > Maintenance"
    await assert_embeddings_are_current(graph, user_id, graph.embedder, datetime.now(UTC))


async def test_a_section_cannot_pose_as_another_statement(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    page = f"# Paid: in full | Bo\n\n{RAIN}{RAIN} The larch is in the shed."
    await graph.add_source("Page", page, user_id=user_id)
    answer = await tools["hybrid_search"].call_text({"query": "is the larch in the shed?"})
    assert '"Paid: in full ¦ Bo": “' in answer.text


async def test_each_part_of_a_long_turn_has_its_speaker(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    call = f"Ruth: {FILLER}{RAIN} The larch is in the shed.\n\nMe: Good.\n\nRuth: Bye.\n\nMe: Bye."
    await graph.add_source("Call", call, user_id=user_id)
    answer = await tools["hybrid_search"].call_text({"query": "where is the larch?"})
    assert "Ruth: “" in answer.text.split("larch is in")[0]
    read = succeeded(await tools.read_source(entity_key="Call", token_budget=8_000))["passages"]
    assert [one.get("section") for one in read] == ["Ruth", "Ruth", None]
    await assert_embeddings_are_current(graph, user_id, graph.embedder, datetime.now(UTC))


@pytest.mark.parametrize("tool", ["hybrid_search", "explore"])
async def test_json_has_the_sentences_that_match(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, tool: str
) -> None:
    await graph.add_source("Manual", MANUAL, user_id=user_id)
    query = "change the oil of the gearbox every how many hours?"
    answer = succeeded(await tools[tool](query=query))
    assert "Change the oil every 900 hours." in str(answer)
    assert "characters)" not in str(answer)


@pytest.mark.parametrize(
    ("form", "budget"), [("text", 200), ("text", 2_000), ("json", 400), ("json", 2_000)]
)
async def test_reading_on_gives_every_word_of_a_source(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, form: str, budget: int
) -> None:
    await graph.add_source("Manual", MANUAL, user_id=user_id)
    words: list[str] = []
    cursor: str | None = None
    for _ in range(100):
        page = await tools["read_source"].call_text(
            {"entity_key": "Manual", "token_budget": budget, "cursor": cursor, "format": form}
        )
        answer = succeeded(dict(page.payload))
        words += [word for one in answer["passages"] for word in one["text"].split()]
        assert answer["passages"][-1]["text"].split()[-1] in page.text
        assert "characters)" not in page.text
        if (cursor := answer.get("next_cursor")) is None:
            break
    assert words == MANUAL.split()


async def test_filters_of_time_and_sources_keep_or_leave_passages(
    graph: KnowledgeGraph, user_id: str
) -> None:
    await graph.add_source("Call", CALL, user_id=user_id, said_on="2023-04-02")
    query = "varnish recipe"
    assert await passages(graph, user_id, query, between="2023")
    assert await passages(graph, user_id, query, as_of="2024")
    for nothing in ({"between": "2022"}, {"as_of": "2022"}, {"sources": False}):
        assert await passages(graph, user_id, query, **nothing) == []


async def test_the_same_text_costs_nothing_and_another_replaces_it(
    graph: KnowledgeGraph, user_id: str
) -> None:
    first = await graph.add_source("Call", CALL, user_id=user_id)
    again = await graph.add_source("call", CALL, user_id=user_id)
    assert again.properties["updated_at"] == first.properties["updated_at"]
    changed = await graph.add_source("Call", CALL.replace("Lisbon", "Porto"), user_id=user_id)
    assert changed.entity_key == first.entity_key
    found = await passages(graph, user_id, "workshop moved")
    assert any("Porto" in text for text in found)
    assert not any("Lisbon" in text for text in found)
    assert (await graph.migrate(user_id=user_id, dry_run=True)).nodes.updated == 0


async def test_a_passage_leads_to_what_it_names(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    person = {"label": "Person", "name": "Theo Brandt", "description": "Restores harpsichords."}
    await remembered(tools, [person])
    minutes = "The choir chose Theo Brandt as treasurer. The hall costs forty a night."
    await graph.add_source("Minutes of the choir", minutes, user_id=user_id)
    query = "What does the treasurer of the choir do for a living?"
    found = await graph.search(query, user_id=user_id)
    near = await graph.search(query, user_id=user_id, expand_hops=0)
    assert [item.name for item in found.objects] == ["Minutes of the choir", "Theo Brandt"]
    assert [item.name for item in near.objects] == ["Minutes of the choir"]
    # A name that is added later is followed without a write to the source.
    await remembered(tools, [{"label": "Entity", "name": "Hall", "description": "Seats ninety."}])
    later = await graph.search(query, user_id=user_id)
    assert {item.name for item in later.objects} == {"Minutes of the choir", "Theo Brandt", "Hall"}


async def test_a_passage_leads_to_no_relationship_if_none_is_searched(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    friends = [{"label": "Person", "name": f"Friend {n}"} for n in range(6)]
    said = {"relationship_type": "treasurer with", "description": "The treasurer of the choir."}
    await remembered(
        tools,
        [{"label": "Person", "name": "Theo Brandt", "description": "Sings."}, *friends],
        [{"from": "Theo Brandt", "to": one["name"], **said} for one in friends],
    )
    minutes = "The choir chose Theo Brandt as treasurer."
    await graph.add_source("Minutes", minutes, user_id=user_id)
    found = await graph.search(
        "treasurer of the choir", user_id=user_id, limit=2, search_relationships=False
    )
    assert [item.name for item in found.objects] == ["Minutes", "Theo Brandt"]


async def test_a_source_is_read_from_the_words_that_are_asked_for(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await graph.add_source("Call", CALL, user_id=user_id, said_on="2023-04-02")
    read = succeeded(await tools.read_source(entity_key="Call"))
    assert [one["text"] for one in read["passages"]] == CALL.split("\n\n")
    assert all(CALL[one["start"] :].startswith(one["text"]) for one in read["passages"])
    assert read["said_on"] == "2023-04-02"
    near = succeeded(await tools.read_source(entity_key="Call", around="blue ledger"))
    assert near["passages"][0]["text"].startswith("Ruth: He wrote")
    shown = await tools["get_relationship"].call_text({"from_entity_key": "Call"})
    assert "its text has 4 passages: read_source" in shown.text
    await remembered(tools, [{"label": "Person", "name": "Ruth"}])
    assert "has no text" in error_of(await tools.read_source(entity_key="Ruth"))
    assert "No passage has any word" in error_of(
        await tools.read_source(entity_key="Call", around="zeppelin")
    )


async def test_passages_are_exported_merged_restored_and_forgotten_with_their_source(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, tmp_path: Path
) -> None:
    keep = await graph.add_source("Call", CALL, user_id=user_id)
    other = await graph.add_source("Letter", "Nora keeps bees behind the mill.", user_id=user_id)
    file = tmp_path / "graph.jsonl"
    await graph.export(file, user_id=user_id)

    both = {"keep_entity_key": keep.entity_key, "drop_entity_key": other.entity_key}
    assert "different texts" in error_of(await tools.merge_nodes(**both))
    await remembered(tools, [{"label": "Source", "name": "Bare"}])
    succeeded(await tools.merge_nodes(keep_entity_key="Bare", drop_entity_key=other.entity_key))
    assert await passages(graph, user_id, "bees") == ["Nora keeps bees behind the mill."]
    succeeded(await tools.restore(entity_key=other.entity_key))
    assert await passages(graph, user_id, "bees") == ["Nora keeps bees behind the mill."]
    assert (await graph.migrate(user_id=user_id, dry_run=True)).nodes.updated == 0

    succeeded(await tools.delete_node(entity_key=other.entity_key))
    assert not any("bees" in text for text in await passages(graph, user_id, "bees"))
    await graph.forget(user_id=user_id)
    assert await passages(graph, user_id, "workshop") == []
    await graph.import_records(file)
    assert await passages(graph, user_id, "bees") == ["Nora keeps bees behind the mill."]


async def test_remember_stores_the_words_of_its_source(tools: Toolset) -> None:
    call = {"source": "Call", "source_text": CALL, "said_on": "2023-04-02"}
    answer = succeeded(await tools.remember(**call))
    assert "The text of Call is stored in 4 passages" in answer["hints"][0]
    person = {"label": "Person", "name": "Theo", "notes": ["Keeps the recipe."]}
    as_object = {"source": {"name": "Call", "text": CALL}, "nodes": [person]}
    created = succeeded(await tools.remember(**as_object))["created_nodes"]
    assert [one["name"] for one in created] == ["Theo"]
    assert "2023-04-02" in (await tools["hybrid_search"].call_text({"query": "blue ledger"})).text
    assert "source_text needs source" in error_of(await tools.remember(source_text=CALL))


async def test_a_former_name_is_free_for_another_source(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    first = await graph.add_source("Letter", "Nora keeps bees.", user_id=user_id)
    key = first.entity_key
    succeeded(await tools.update_node(entity_key=key, name="Letter of 2019"))
    succeeded(await tools.update_node(entity_key=key, aliases=[]))
    second = await graph.add_source("Letter", "The mill burned.", user_id=user_id)
    assert second.entity_key != first.entity_key
    assert sorted(await passages(graph, user_id, "mill bees")) == [
        "Nora keeps bees.",
        "The mill burned.",
    ]


async def test_bad_texts_are_refused(graph: KnowledgeGraph, user_id: str) -> None:
    for name, text in (("", "x"), ("Call", "")):
        with pytest.raises(InputError):
            await graph.add_source(name, text, user_id=user_id)
    with pytest.raises(InputError, match="said_on"):
        await graph.add_source("Call", "x", user_id=user_id, said_on="last May")


async def test_load_stores_documents_as_sources(
    graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    pages = {
        "notes.md": b"# Garden\n\nThe quince tree flowers in April.\n",
        "page.html": b"<html><script>x()</script><h1>Mill</h1><p>The mill wheel is oak.</p></html>",
        "mail.eml": b"From: nora@example.org\nSubject: Bees\nDate: Mon, 3 Apr 2023 10:00:00 +0200\n"
        b"Content-Type: text/plain\n\nThe hive swarmed.\n",
        "walk.md": b"---\ndate: 2024-05-06\ntags: [walks]\n---\nWe walked around the lake.\n",
        "cape.md": b'---\ndate: "2023-04-02"\n---\nWe saw the cape.\n',
        "latin.txt": "Jörg grüßt.".encode("cp1252"),
        "empty.txt": b" \n",
        "bad.pdf": b"no pdf",
        "deep.html": b"<div>" * 3_000 + b"deep",
    }
    for name, content in pages.items():
        (tmp_path / name).write_bytes(content)
    files = [tmp_path / name for name in pages]
    report = await graph.load(*files, user_id=user_id)
    assert report.nodes.created == 6
    assert [str(one) for one in report.remarks] == [
        f"{tmp_path / 'latin.txt'}: is not UTF-8, so read as Windows-1252"
    ]
    assert await passages(graph, user_id, "cape", between="2023-04-02") == ["We saw the cape."]
    assert "Jörg grüßt." in await passages(graph, user_id, "Wer grüßt?")
    assert [Path(one.place).name for one in report.problems] == [
        "empty.txt",
        "bad.pdf",
        "deep.html",
    ]
    assert "quince" in (await passages(graph, user_id, "when does the quince flower?"))[0]
    assert "x()" not in str(await passages(graph, user_id, "mill wheel"))
    assert await passages(graph, user_id, "hive", between="2023-04")
    [walk] = await passages(graph, user_id, "lake", between="2024-05-06")
    assert walk == "We walked around the lake."
    assert (await graph.load(*files[:4], user_id=user_id)).nodes.unchanged == 4
    (tmp_path / ".hidden.md").write_text("Not this one.")
    for name in ("plan.docx", "list.docx", "Makefile"):
        (tmp_path / name).write_text("Not these either.")
    folder = await graph.load(tmp_path, user_id=user_id)
    assert folder.nodes.unchanged == 6
    unread = f"{tmp_path}: 3 files not read: 2 .docx, 1 without an ending"
    assert str(folder.remarks[0]) == unread
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.docx").write_text("Nor this one.")
    with pytest.raises(InputError, match="1 file not read"):
        await graph.load(tmp_path / "other", user_id=user_id)


async def test_a_file_is_one_source_however_its_path_is_written(
    graph: KnowledgeGraph, user_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "garden.md").write_text("The quince tree flowers in April.")
    assert (await graph.load(tmp_path / "notes", user_id=user_id)).nodes.created == 1
    monkeypatch.chdir(tmp_path)
    for path in ("notes", "notes/garden.md", "notes/../notes"):
        assert (await graph.load(path, user_id=user_id)).nodes.unchanged == 1
