"""Other tasks run while a tool reads records with many notes."""

import json
import sys
from collections import Counter
from functools import partial
from typing import Any

import pytest

from kgagent import turns
from kgagent.graph import records
from kgagent.models.note import Note, parse_notes
from kgagent.tools import Toolset
from tests.support.loop_turns import turns_of_others
from tests.support.payloads import succeeded
from tests.support.stored import Database

PEOPLE = 40

ROOM = {"token_budget": 20_000}
QUERIES = [{"query": "who sails?", "threshold": -1}, {"query": "who is a friend?", "threshold": -1}]

CALLS: dict[str, dict[str, Any]] = {
    "explore": {"queries": QUERIES, **ROOM},
    "hybrid_search": {"query": "who sails with Ann?", "threshold": -1, "limit": 80, **ROOM},
    "traverse": {"entity_key": "Ann", **ROOM},
    "find_paths": {
        "from_entity_key": "Person 1",
        "to_entity_key": "Person 2",
        "query": "sailing",
        **ROOM,
    },
    "merge_nodes": {"keep_entity_key": "Person 1", "drop_entity_key": "Ann"},
    "restore": {"entity_key": "Ann"},
}


@pytest.fixture
async def long_notes(database: Database, tools: Toolset) -> Toolset:
    """The tools of a user whose people all have many notes, and so have their relationships to
    Ann.
    """
    people = [f"Person {number}" for number in range(PEOPLE)]
    friend = {"to": "Ann", "relationship_type": "friend", "description": "They sail"}
    succeeded(
        await tools.remember(
            nodes=[
                {"label": "Person", "name": name, "description": "Sails"}
                for name in ("Ann", *people)
            ],
            relationships=[{"from": name, **friend} for name in people],
        )
    )
    notes = json.dumps([{"content": f"Summer {year}: sailed to Bergen"} for year in range(1, 200)])
    await database.run("MATCH (n:Person {user_id: $user}) SET n.notes = $notes", notes=notes)
    await database.run("MATCH (:Person {user_id: $user})-[r]->() SET r.notes = $notes", notes=notes)
    return tools


@pytest.mark.parametrize("tool", list(CALLS))
async def test_other_tasks_run_between_records(
    long_notes: Toolset, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, tool: str
) -> None:
    if tool == "restore":
        succeeded(await long_notes.delete_node(entity_key="Ann", delete_relationships=True))
    monkeypatch.setattr(turns, "LONGEST_TURN", 0.0)  # reading any record takes longer
    request.addfinalizer(partial(sys.setswitchinterval, sys.getswitchinterval()))
    sys.setswitchinterval(1e-6)
    read = Counter[int]()
    async with turns_of_others() as others:

        def counted(stored: object) -> tuple[Note, ...]:
            read[others.count] += 1
            return parse_notes(stored)

        monkeypatch.setattr(records, "parse_notes", counted)
        succeeded(await long_notes[tool](**CALLS[tool]))
    assert read.total() >= (2 if tool == "find_paths" else PEOPLE)
    # Searches read them in a thread, which decides when others run.
    assert max(read.values()) < (8 if tool in {"merge_nodes", "restore"} else PEOPLE), read
