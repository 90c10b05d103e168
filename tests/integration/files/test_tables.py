"""Ordinary tables: CSV of any dialect, and a JSON array of objects."""

import json
from pathlib import Path

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import InputError
from tests.support.stored import nodes_of, relationships_of

CONTACTS = """\ufeffTitle;Firm;Met;Phone;Remarks
Ann Lee;Acme;12.03.2019;+49 1;"Likes; tea"
Bo Ek;Acme;;+49 2;
Cy Ruiz;Tide; 2020-05-01 00:00 ;;Sings
Di Ott;Tide;yesterday;;
Ann Lee;;;;
;;;;
"""
COLUMNS = "Title=name,Met=when,Firm=works for -> Entity,Remarks=notes"


@pytest.fixture
def contacts(tmp_path: Path) -> Path:
    """A table as spreadsheets save it."""
    file = tmp_path / "contacts.csv"
    file.write_text(CONTACTS.replace("\n", "\r\n"), "utf-8")
    return file


async def test_a_table_is_loaded_as_its_columns_say_and_a_bad_cell_costs_itself(
    graph: KnowledgeGraph, user_id: str, contacts: Path
) -> None:
    report = await graph.load(contacts, user_id=user_id, label="Person", columns=COLUMNS)
    assert (report.nodes.created, report.relationships.created) == (6, 4)
    assert [str(problem) for problem in report.problems] == [
        "line 5: Met: 'yesterday' is no day, such as 2019-03-12",
        "line 6: id 'Ann Lee' is already used on line 2",
    ]
    nodes = {node["name"]: node for node in await nodes_of(graph, user_id)}
    assert nodes.keys() == {"Ann Lee", "Bo Ek", "Cy Ruiz", "Di Ott", "Acme", "Tide"}
    ann, cy = nodes["Ann Lee"], nodes["Cy Ruiz"]
    notes = [(note["content"], note.get("when")) for note in json.loads(ann["notes"])]
    assert notes == [("Likes; tea", None), ("Met", "2019-03-12")]
    assert json.loads(cy["notes"])[1]["when"] == "2020-05-01"
    assert (ann["Phone"], "Phone" in cy) == ("+49 1", False)
    types = {one["relationship_type"] for one in await relationships_of(graph, user_id)}
    assert types == {"works for"}
    again = await graph.load(contacts, user_id=user_id, label="Person", columns=COLUMNS)
    assert not again.changed


async def test_without_columns_they_are_proposed(
    graph: KnowledgeGraph, user_id: str, contacts: Path
) -> None:
    proposed = '--label Person --map "Met=when,Title=name,Firm -> Entity"'
    with pytest.raises(InputError) as refused:
        await graph.load(contacts, user_id=user_id)
    assert proposed in str(refused.value)
    assert await nodes_of(graph, user_id) == []


@pytest.mark.parametrize(
    ("name", "content", "proposed", "names"),
    [
        (
            "excel.csv",
            "sep=;\r\nName;City, State\r\nJörg, M.;Oslo, NO\r\nBo;Oslo, NO\r\n".encode("cp1252"),
            "Name=name,City, State -> Entity",
            {"Jörg, M.", "Bo", "Oslo, NO"},
        ),
        (
            "people.csv",
            b"Surname,Given name,Born\nLovelace,Ada,1815-12-10\nDahl,Bo,1990-04-03\n",
            "Born=when,Given name=name,Surname=name",
            {"Ada Lovelace", "Bo Dahl"},
        ),
        (
            "sizes.csv",
            b'Title|Sizes, colours; notes\nBoat|"a, b; c"\nOar|d, e; f\n',
            "Title=name",
            {"Boat", "Oar"},
        ),
        ("one.csv", b"Name\nLee, Ann\nBo\n", "Name=name", {"Lee, Ann", "Bo"}),
    ],
)
async def test_ordinary_tables_are_loaded_as_is_proposed(
    graph: KnowledgeGraph,
    user_id: str,
    tmp_path: Path,
    name: str,
    content: bytes,
    proposed: str,
    names: set[str],
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as refused:
        await graph.load(tmp_path / name, user_id=user_id)
    assert f'--label Person --map "{proposed}"' in str(refused.value)
    report = await graph.load(tmp_path / name, user_id=user_id, label="Person", columns=proposed)
    assert report.problems == ()
    remarks = ["excel.csv: is not UTF-8, so read as Windows-1252"] if name == "excel.csv" else []
    assert [str(remark) for remark in report.remarks] == remarks
    assert {node["name"] for node in await nodes_of(graph, user_id)} == names


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ("Titel=name", "No column 'Titel'; there are Title, Firm"),
        ("Title=nmae", "'nmae' is no field"),
        ("Firm -> Company", "Unknown label: Company"),
        ("Firm -> Entity", "No column is the name"),
    ],
)
async def test_columns_that_do_not_fit_are_refused(
    graph: KnowledgeGraph, user_id: str, contacts: Path, columns: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        await graph.load(contacts, user_id=user_id, label="Person", columns=columns)


async def test_an_array_of_objects_is_a_table_and_rows_may_name_each_other(
    graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "team.json"
    team = [
        {"Name": "Ann", "age": 7, "tags": ["a", "b"], "boss": "Bo"},
        {"Name": "Bo", "boss": None},
    ]
    file.write_text(json.dumps(team, indent=1), "utf-8")
    report = await graph.load(
        file, user_id=user_id, label="Person", columns="Name=name,boss -> Person"
    )
    assert (report.nodes.created, report.problems) == (2, ())
    [ann] = [node for node in await nodes_of(graph, user_id) if node["name"] == "Ann"]
    assert (ann["age"], ann["tags"]) == (7, "a; b")
    [boss] = await relationships_of(graph, user_id)
    assert boss["relationship_type"] == "boss"
