"""Whatever two nodes and their relationships hold, merging them loses no note and leaves no
embedding stale, and restoring the dropped one takes it back.
"""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent import KnowledgeGraph
from kgagent.ontology import default_ontology
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.examples import examples
from tests.support.payloads import succeeded
from tests.support.people import node, person
from tests.support.stored import (
    assert_embeddings_are_current,
    nodes_of,
    note_contents,
    relationships_of,
)

NODES = ("keep", "drop", "Cy", "Di", "Chess")
texts = st.sampled_from(["", "They row", "x" * 1_500, "ünï\0code"])
levels = st.none() | st.integers(1, 5)
notes = st.lists(
    st.sampled_from(["one", "two", "z" * 900])
    | st.fixed_dictionaries(
        {"content": st.just("one"), "lifetime": st.sampled_from(["week", "forever"])}
    ),
    max_size=3,
)
relationships = st.fixed_dictionaries(
    {
        "relationship_type": st.sampled_from(["friend", "mentor"]),
        "description": texts,
        "attitude": levels,
        "proximity": levels,
        "notes": notes,
    }
)
ends = st.sampled_from([(a, b) for a in NODES for b in NODES if a != b])
graphs = st.lists(st.tuples(ends, relationships, st.sampled_from([0, 3, 8])), max_size=10)
node_facts = st.fixed_dictionaries({"description": texts, "notes": notes})


Drawn = list[tuple[tuple[str, str], dict[str, Any], int]]


async def made(
    tools: Toolset,
    drawn: Drawn,
    kept: dict[str, Any],
    dropped: dict[str, Any],
    clock: Clock | None = None,
) -> dict[str, str]:
    """Make a drawn graph and give the keys of its nodes; where a clock is given, the drawn days
    pass in between.
    """
    keys = {
        "keep": await person(tools, "Bob", **kept),
        "drop": await person(tools, "Robert", **dropped),
    }
    keys |= {name: await person(tools, name) for name in ("Cy", "Di")}
    keys["Chess"] = await node(tools, "Concept", "Chess")
    for (first, second), values, days in drawn:
        if clock is not None:
            clock.forward(days=days)
        await tools.create_relationship(
            from_entity_key=keys[first], to_entity_key=keys[second], **values
        )
    return keys


def contents(stored: dict[str, Any]) -> set[str]:
    return set(note_contents(stored))


def is_opposite(kept: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two relationships of a type that has a direction have opposite ones. What joins
    nodes of two labels has that of its labels.
    """
    if other["neo4j_type"] != "has_relationship_with":
        return False
    starts = [item["second" if item.get("is_reversed") else "first"] for item in (kept, other)]
    ends = [item["first" if item.get("is_reversed") else "second"] for item in (kept, other)]
    turned = starts[0] == ends[1] or ends[0] == starts[1]
    return bool(other["relationship_type"] == "mentor" and turned)


def replaced_texts(kept: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """What a dropped relationship says and the kept one does not: levels, its type with its
    description, or this.
    """
    levels = {field: other.get(field) for field in ("attitude", "proximity")}
    words = [
        default_ontology().word(other["neo4j_type"], field, level)
        for field, level in levels.items()
        if level not in {None, kept.get(field)}
    ]
    description = other.get("description") or ""
    if other["relationship_type"] != kept["relationship_type"] or is_opposite(kept, other):
        return [other["relationship_type"], *words, description]
    return words + ([description] if description not in {"", kept.get("description")} else [])


@pytest.mark.usefixtures("part")
@examples(4)
@given(drawn=graphs, kept=node_facts, dropped=node_facts)
async def test_a_merge_loses_nothing_and_leaves_every_embedding_current(
    graph: KnowledgeGraph,
    embedder: WatchedEmbedder,
    clock: Clock,
    drawn: Drawn,
    kept: dict[str, Any],
    dropped: dict[str, Any],
) -> None:
    user_id = f"user-{uuid4()}"
    tools = graph.tools(user_id=user_id)
    keys = await made(tools, drawn, kept, dropped, clock)
    before = {
        frozenset((item["first"], item["second"])): item
        for item in await relationships_of(graph, user_id)
    }
    facts_before = {item["entity_key"]: item for item in await nodes_of(graph, user_id)}
    succeeded(await tools.merge_nodes(keep_entity_key=keys["keep"], drop_entity_key=keys["drop"]))
    # Notes that expired before the merge leave the texts of what the merge did not touch with the
    # next write.
    for item in await relationships_of(graph, user_id):
        await tools.update_relationship(
            from_entity_key=item["first"], to_entity_key=item["second"], salience=0.123
        )
    for key in (keys[name] for name in NODES if name != "drop"):
        await tools.update_node(entity_key=key, notes=["last"])
    stored = await assert_embeddings_are_current(graph, user_id, embedder, clock())
    after = {frozenset((item["first"], item["second"])): item for item in stored}
    assert len(after) == len(stored)

    expected: dict[frozenset[str], set[str]] = {}
    for pair, item in before.items():
        moved = frozenset(keys["keep"] if key == keys["drop"] else key for key in pair)
        if len(moved) > 1:
            expected[moved] = expected.get(moved, set()) | contents(item)
    assert after.keys() == expected.keys()
    for pair, item in after.items():
        own = before.get(pair)
        other = before.get(frozenset(keys["drop"] if key == keys["keep"] else key for key in pair))
        replaced = replaced_texts(item, other) if own is not None and other is not None else []
        assert contents(item) >= expected[pair]
        added = contents(item) - expected[pair]
        assert len(added) <= 1
        assert all(text in content for content in added for text in replaced)
        assert bool(replaced) >= bool(added)
        assert (
            not replaced
            or added
            or any(all(text in content for text in replaced) for content in expected[pair])
        )
        types = {one["relationship_type"] for one in (own, other) if one is not None}
        for field in ("relationship_type", "description", "attitude", "proximity"):
            # What a relationship of another type says would be wrong of this one.
            differs = own is not None and other is not None and is_opposite(own, other)
            sources = (own, other) if len(types) == 1 and not differs else (own,)
            said = [one.get(field) for one in sources if one is not None]
            assert item.get(field, "") == next(
                (value for value in said if value not in (None, "")), ""
            )
        first, second = sorted(pair)
        assert item["relationship_key"] == f"{item['neo4j_type']}:{len(first)}:{first}:{second}"

    [node_after] = [
        item for item in await nodes_of(graph, user_id) if item["entity_key"] == keys["keep"]
    ]
    between = before.get(frozenset((keys["keep"], keys["drop"])), {})
    both = [facts_before[keys["keep"]], facts_before[keys["drop"]], between]
    lost = {facts_before[keys["drop"]].get("description", "")} - {"", node_after.get("description")}
    if description := between.get("description"):
        [statement] = [one for one in contents(node_after) if one.endswith(f". {description}")]
        lost.add(statement)
    assert contents(node_after) - {"last"} == set().union(lost, *map(contents, both))
    assert len(note_contents(node_after)) == len(contents(node_after))


async def exported(graph: KnowledgeGraph, user_id: str, path: Path) -> list[dict[str, Any]]:
    """All that is stored of a user, without times of changes and versions."""
    await graph.export(path, user_id=user_id)
    return content(path)


def content(path: Path) -> list[dict[str, Any]]:
    """The records of an exported file, without times of changes and versions."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()[1:-1]]
    for line in lines:
        for name in ("updated_at", "version"):
            line["properties"].pop(name)
    return lines


@pytest.mark.usefixtures("part")
@examples(4)
@given(drawn=graphs, kept=node_facts, dropped=node_facts)
async def test_restoring_the_dropped_node_restores_all(
    graph: KnowledgeGraph,
    tmp_path: Path,
    clock: Clock,
    drawn: Drawn,
    kept: dict[str, Any],
    dropped: dict[str, Any],
) -> None:
    tools = graph.tools(user_id=f"user-{uuid4()}")
    keys = await made(tools, drawn, kept, dropped)
    # What says that a note is from one of the two, and an earlier value.
    cited = [{"content": "cited", "source_entity_key": keys["drop"]}]
    succeeded(await tools.update_node(entity_key=keys["Cy"], notes=cited, description="New"))
    succeeded(await tools.update_node(entity_key=keys["drop"], description="New"))
    before = await exported(graph, tools.user_id, tmp_path / "before.jsonl")
    clock.forward(hours=1)
    succeeded(await tools.merge_nodes(keep_entity_key=keys["keep"], drop_entity_key=keys["drop"]))
    succeeded(await tools.restore(entity_key=keys["drop"]))
    assert await exported(graph, tools.user_id, tmp_path / "after.jsonl") == before


PEOPLE = ("Ann", "Bo", "Cy", "Di")
two_people = st.sampled_from([(a, b) for a in PEOPLE for b in PEOPLE if a != b])
changes = st.one_of(
    st.tuples(st.just("note"), st.sampled_from(PEOPLE)),
    st.tuples(st.just("meet"), two_people),
    st.tuples(st.just("merge"), two_people),
    st.tuples(st.just("merge"), two_people),
    st.tuples(st.just("restore"), st.sampled_from(PEOPLE)),
    st.tuples(st.just("restore"), st.sampled_from(PEOPLE)),
)


class People:
    """What notes people and their friendships have: all that was written, without the merges that
    were taken back.

    A note belongs to the record that it was written to, by its number; where merges have joined it
    to another record, that one shows it.
    """

    def __init__(self) -> None:
        self.log: list[tuple[str, Any]] = []
        self.people: dict[str, set[str]] = {}
        self.friends: dict[frozenset[str], int] = {}
        self.notes: dict[int, set[str]] = {}
        self.add()

    def add(self, *entries: tuple[str, Any]) -> None:
        """Add to the log, and work out what it comes to."""
        self.log += entries
        self.people = {name: set() for name in PEOPLE}
        self.friends, self.notes = {}, {}
        for number, (kind, what) in enumerate(self.log):
            if kind == "note":
                self.people[what].add(f"note {number}")
            elif kind == "meet":
                friendship = self.friends.setdefault(frozenset(what), number)
                self.notes.setdefault(friendship, set()).add(f"note {number}")
            elif kind == "friend note":
                self.notes[what].add(f"note {number}")
            elif kind == "merge":
                self._merge(*what)

    def _merge(self, keep: str, drop: str) -> None:
        self.people[keep] |= self.people.pop(drop)
        for pair in [pair for pair in self.friends if drop in pair]:
            friendship = self.friends.pop(pair)
            moved = pair - {drop} | {keep}
            if len(moved) == 1:
                self.people[keep] |= self.notes.pop(friendship)
            elif moved in self.friends:
                self.notes[self.friends[moved]] |= self.notes.pop(friendship)
            else:
                self.friends[moved] = friendship

    def take_back(self, name: str) -> None:
        """Take the merge of a person back."""
        at = next(
            at for at, (kind, what) in enumerate(self.log) if kind == "merge" and what[1] == name
        )
        self.log[at] = ("taken back", None)
        self.add()

    @property
    def merged(self) -> list[str]:
        """The people that are merged into others, in the order of the merges."""
        return [what[1] for kind, what in self.log if kind == "merge"]

    @property
    def shown(self) -> tuple[dict[str, set[str]], dict[frozenset[str], set[str]]]:
        """The notes of all people and friendships."""
        return self.people, {pair: self.notes[one] for pair, one in self.friends.items()}


@pytest.mark.usefixtures("part")
@examples(6)
@given(drawn=st.lists(changes, min_size=6, max_size=14))
async def test_merges_are_taken_back_in_any_order_or_it_is_said_in_which(
    graph: KnowledgeGraph, clock: Clock, drawn: list[tuple[str, Any]]
) -> None:
    tools, model = graph.tools(user_id=f"user-{uuid4()}"), People()
    keys = {name: await person(tools, name) for name in PEOPLE}
    names = {key: name for name, key in keys.items()}
    for kind, what in [*drawn, *(("restore", name) for name in PEOPLE[::-1] * len(PEOPLE))]:
        clock.forward(minutes=1)
        note = f"note {len(model.log)}"
        involved = {what} if isinstance(what, str) else {*what}
        if kind == "restore":
            if what not in model.merged:
                continue
            answer = await tools.restore(entity_key=keys[what])
            if answer["success"]:
                model.take_back(what)
            else:
                assert what != model.merged[-1], answer
                assert "restore that first" in answer["error"]
        elif not involved <= model.people.keys():
            continue
        elif kind == "note":
            succeeded(await tools.update_node(entity_key=keys[what], notes=[note]))
            model.add((kind, what))
        elif kind == "meet":
            known = model.friends.get(frozenset(what))
            item = {"from": keys[what[0]], "to": keys[what[1]], "relationship_type": "friend"}
            succeeded(await tools.remember(relationships=[{**item, "notes": [note]}]))
            model.add((kind, what) if known is None else ("friend note", known))
        else:
            keep, drop = what
            succeeded(
                await tools.merge_nodes(keep_entity_key=keys[keep], drop_entity_key=keys[drop])
            )
            model.add((kind, what))
        people = {
            names[one["entity_key"]]: contents(one) for one in await nodes_of(graph, tools.user_id)
        }
        friends = {
            frozenset((names[one["first"]], names[one["second"]])): contents(one)
            for one in await relationships_of(graph, tools.user_id)
        }
        assert (people, friends) == model.shown
    assert not model.merged
