"""Two users write, correct, delete and search at random; every answer has the rows of a model in
plain Python.

Steps of both users run concurrently, against one Neo4j. A hundred thousand steps:
`KGAGENT_TEST_EXAMPLES=34 pytest tests/property/test_time_model.py`. Types of which a node has one
value at a time have a model and a test of their own.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime
from itertools import combinations
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
from kgagent.models import ExploreRequest
from kgagent.models.hybrid import HybridSearchRequest
from kgagent.tools import Payload
from tests.conftest import Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.examples import examples
from tests.support.payloads import assert_nothing_hidden, succeeded
from tests.support.stored import assert_embeddings_are_current, nodes_of, relationships_of
from tests.support.time_model import (
    HISTORY_FIELDS,
    LABELS,
    TYPES,
    Ends,
    Filter,
    Note,
    OneValue,
    Record,
    Replaced,
    UserModel,
    days_of,
    is_new_type,
    is_other_after,
    shown_notes,
    stored_when,
    told_from,
    with_time,
)

STEPS = 30
"""Steps of each user in an example."""

names = st.sampled_from(list(LABELS))
pairs = st.sampled_from(list(combinations(LABELS, 2)))
records = names | pairs
simple_times = (
    st.dates(date(2019, 1, 1), date(2023, 12, 31)).map(str)
    | st.builds("{}-{:02}".format, st.integers(2019, 2023), st.integers(1, 12))
    | st.integers(2019, 2023).map(str)
)


def _interval(one: str, other: str) -> str:
    first, last = sorted((one, other), key=days_of)
    return f"{first}/{last}" if days_of(first)[0] <= days_of(last)[1] else first


times = (
    simple_times
    | simple_times.map("{}~".format)
    | st.integers(2019, 2023).map("about {}".format)
    | st.just("202X")
    | st.just("2021?")
    | st.builds(_interval, simple_times, simple_times)
    | simple_times.map("{}/..".format)
    | simple_times.map("../{}".format)
)
several_times = times | st.just("2019; 2021-03/2022") | st.just("2020-01; 2023/..")
contents = st.sampled_from(["They met", "She moved", "He sang", "We rowed"])
types = st.sampled_from(["friend", "mentor of", "rival"])
descriptions = st.sampled_from(["They bake", "They row", "They sail"])
levels = st.integers(1, 5)


def optional(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A dictionary with some of the values."""
    return st.fixed_dictionaries({}, optional=values)


def with_optional(
    always: dict[str, st.SearchStrategy[Any]], **values: st.SearchStrategy[Any]
) -> Any:
    return st.fixed_dictionaries(always, optional=values)


# Of several notes with one content, the index has one entry, with the last of their expiries: those
# that expire have contents of their own.
new_notes = with_optional({"content": contents}, when=several_times) | st.sampled_from(
    [
        {"content": "Is away", "when": "2021", "lifetime": "week"},
        {"content": "Is away", "when": "2021", "lifetime": "month"},
        {"content": "Is here", "when": "2022-05/..", "lifetime": "month"},
    ]
)
notes = st.lists(new_notes, max_size=2)
facts = {
    "description": descriptions,
    "attitude": levels,
    "proximity": levels,
    "when": several_times,
}
flag = st.just(True)
remembered = with_optional(
    {
        "nodes": st.lists(
            with_optional({"at": names, "description": descriptions}, correction=flag), max_size=1
        ),
        "relationships": st.lists(
            with_optional(
                {"at": pairs, "notes": notes},
                relationship_type=types,
                replaces=flag,
                correction=flag,
                **facts,
            ),
            max_size=2,
        ),
        "notes": st.lists(
            with_optional({"at": records, "content": contents}, when=times, replaces=contents),
            max_size=2,
        ),
    },
    said_on=simple_times,
    source=st.just("Talk"),
).filter(lambda call: any(call[kind] for kind in ("nodes", "relationships", "notes")))
known = st.none() | times | st.dates(date(2026, 1, 1), date(2026, 3, 1)).map(str)
filters = st.builds(
    Filter,
    known_as_of=known,
    labels=st.none() | st.sampled_from([("Person",), ("Concept", "Source"), ("Source",)]),
    neo4j_types=st.none()
    | st.sampled_from([("has_relationship_with",), ("engages_with", "covered_in")]),
    relationship_types=st.none() | st.sampled_from([("friend",), ("rival", "mentor of")]),
    as_of=st.none() | times,
    between=st.none() | times,
    min_attitude=st.none() | st.integers(1, 3),
    max_attitude=st.none() | st.integers(3, 5),
    min_proximity=st.none() | st.integers(1, 3),
    max_proximity=st.none() | st.integers(3, 5),
)
dates_only = st.builds(Filter, as_of=st.none() | times, between=st.none() | times)
known_only = st.builds(Filter, as_of=st.none() | times, known_as_of=known)
some_filters = dates_only | known_only | filters

Step = tuple[str, dict[str, Any]]


def step(name: str, **arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    """Steps of one kind."""
    return st.tuples(st.just(name), st.fixed_dictionaries(arguments))


writes = (
    st.tuples(st.just("remember"), remembered)
    | st.tuples(st.just("remember"), remembered)
    | step(
        "create_relationship",
        at=pairs,
        relationship_type=types,
        notes=notes,
        values=optional(**facts),
    )
    | step(
        "update_relationship",
        at=pairs,
        values=optional(
            relationship_type=types, **(facts | {"description": descriptions | st.just("")})
        ),
        clear=st.sets(st.sampled_from(["attitude", "proximity", "when"])),
        notes=notes,
        correction=st.booleans(),
    )
    | step("add_note_to_relationship", at=pairs, note=new_notes)
    | step(
        "update_node",
        at=names,
        values=optional(description=descriptions | st.just("")),
        notes=notes,
    )
    | step(
        "update_note",
        at=records,
        note=contents,
        changes=optional(content=contents, when=several_times),
    )
    | step("delete_note", at=records, note=contents | st.just("Is away"))
    | step("delete_relationship", at=pairs)
    | step("restore_relationship", at=pairs)
    | step("restore_value", at=records, field=st.sampled_from(HISTORY_FIELDS))
)
rare_writes: st.SearchStrategy[Step] = (
    step("delete_node", at=names)
    | step("restore_node", at=names)
    | step("merge_nodes", keep_and_drop=st.sampled_from([("Ada", "Bo"), ("Bo", "Cy")]))
    | step("undone_merge", keep_and_drop=st.sampled_from([("Ada", "Bo"), ("Bo", "Cy")]))
    | st.sampled_from(
        [("time passes", {}), ("export and import", {}), ("migrate", {}), ("forget", {})]
    )
)
plans = st.sampled_from(["exact", "index"])
reads = (
    step("relationship_vector_search", filters=some_filters, plan=plans)
    | step("hybrid_search", filters=some_filters, plan=plans)
    | step("explore", filters=some_filters)
    | step("timeline", at=names, between=st.none() | times)
    | step("get_relationship", at=records)
)
any_step = reads | writes | writes | rare_writes


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    """The steps of a user."""
    return [draw(any_step) for _ in range(STEPS)]


@dataclass
class User:
    """A user at work, and the model of their graph."""

    user_id: str
    graph: KnowledgeGraph
    indexed: KnowledgeGraph
    clock: Clock
    model: UserModel

    @classmethod
    async def new(cls, graph: KnowledgeGraph, embedder: WatchedEmbedder) -> "User":
        """A user with the nodes of `LABELS`."""
        clock = Clock()

        def searching(exact_scan_limit: int) -> KnowledgeGraph:
            settings = graph.settings.model_copy(update={"exact_scan_limit": exact_scan_limit})
            return KnowledgeGraph(
                services_of(graph).store, graph.ontology, embedder, settings, clock=clock
            )

        user = cls(f"user-{uuid4()}", searching(100_000), searching(0), clock, UserModel({}))
        await user.plant()
        return user

    async def plant(self) -> None:
        """Create the nodes."""
        nodes = [{"label": label, "name": name, "ref": name} for name, label in LABELS.items()]
        created = succeeded(await self.tools.remember(nodes=nodes))["created_nodes"]
        self.model = UserModel(
            {node["name"]: node["entity_key"] for node in created},
            {node["name"]: Record(created=self.clock()) for node in created},
        )

    @property
    def tools(self) -> Any:
        """The user's tools."""
        return self.graph.tools(user_id=self.user_id)

    @property
    def names(self) -> dict[str, str]:
        """The names of the nodes by key."""
        return {key: name for name, key in self.model.keys.items()}

    async def take(self, name: str, arguments: dict[str, Any]) -> None:
        """Take a step with the tools and in the model, and compare."""
        self.clock.forward(minutes=1)
        await getattr(self, f"_{name.replace(' ', '_')}")(**arguments)

    def ends(self, at: Ends) -> dict[str, str]:
        """Two nodes as arguments of a tool."""
        return {"from_entity_key": self.model.keys[at[0]], "to_entity_key": self.model.keys[at[1]]}

    def at(self, at: str | Ends) -> dict[str, str]:
        """A node or two as arguments of a tool."""
        return {"entity_key": self.model.keys[at]} if isinstance(at, str) else self.ends(at)

    # Writes.

    async def _remember(self, **call: Any) -> None:
        if "Talk" not in self.model.nodes:
            call.pop("source", None)
        keys = self.model.keys
        call["nodes"] = [item for item in call["nodes"] if item["at"] in self.model.nodes]
        given: dict[str, Any] = {"nodes": [], "relationships": [], "notes": []}
        for item in call["nodes"]:
            given["nodes"].append(
                {name: value for name, value in item.items() if name != "at"}
                | {"entity_key": keys[item["at"]]}
            )
        for item in call["relationships"]:
            ends = {"from": keys[item["at"][0]], "to": keys[item["at"][1]]}
            given["relationships"].append(
                {name: value for name, value in item.items() if name != "at"} | ends
            )
        for item in call["notes"]:
            on = (
                keys[item["at"]]
                if isinstance(item["at"], str)
                else [keys[name] for name in item["at"]]
            )
            given["notes"].append(
                {name: value for name, value in item.items() if name != "at"} | {"on": on}
            )
        given |= {"said_on": call["said_on"]} if "said_on" in call else {}
        given |= {"source": keys["Talk"]} if "source" in call else {}
        if not any(given[kind] for kind in ("nodes", "relationships", "notes")):
            return
        payload = await self.tools.remember(**given)
        failures = self.model.remember(call, self.clock())
        assert len(payload.get("failures", [])) == failures, payload

    async def _create_relationship(
        self, at: Ends, relationship_type: str, notes: list[Any], values: dict[str, Any]
    ) -> None:
        call = {"relationship_type": relationship_type, "notes": notes, **values}
        payload = await self.tools.create_relationship(**self.ends(at), **call)
        is_new = self.model.record(at) is None and self.model.can_join(at)
        self.check(payload, succeeds=is_new)
        if is_new:
            item = {"at": at, **call}
            self.model.remember({"nodes": [], "relationships": [item], "notes": []}, self.clock())

    async def _update_relationship(
        self, at: Ends, values: dict[str, Any], clear: set[str], notes: list[Any], correction: bool
    ) -> None:
        clear -= values.keys()
        given = {**values, "clear": sorted(clear), "notes": notes, "correction": correction}
        payload = await self.tools.update_relationship(**self.ends(at), **given)
        record = self.model.record(at)
        self.check(
            payload, succeeds=record is not None and bool(values or clear or notes or correction)
        )
        if record is not None and payload["success"]:
            changes = {**values, **dict.fromkeys(clear)}
            changes |= {"when": stored_when(values["when"])} if "when" in values else {}
            old_type = record.values["relationship_type"]
            day = told_from(changes.get("when"), None, self.clock())
            is_after = is_other_after(record, old_type, values.get("relationship_type"), day)
            is_other = set(values.get("relationship_type", old_type).split(", ")) != set(
                old_type.split(", ")
            )
            ended = with_time(
                record,
                changes,
                replaces=correction or is_other,
                ends=not correction
                and (is_new_type(at, old_type, values.get("relationship_type")) or is_after),
            )
            record.change(changes, self.clock(), corrected=correction, ended=ended)
            self.add_notes(record, notes)

    async def _add_note_to_relationship(self, at: Ends, note: dict[str, Any]) -> None:
        payload = await self.tools.add_note_to_relationship(**self.ends(at), **note)
        record = self.model.record(at)
        self.check(payload, succeeds=record is not None)
        if record is not None:
            self.add_notes(record, [note])

    async def _update_node(self, at: str, values: dict[str, Any], notes: list[Any]) -> None:
        payload = await self.tools.update_node(**self.at(at), **values, notes=notes)
        record = self.model.record(at)
        self.check(payload, succeeds=record is not None and bool(values or notes))
        if record is not None and payload["success"]:
            record.change(values, self.clock())
            self.add_notes(record, notes)

    async def _update_note(self, at: str | Ends, note: str, changes: dict[str, Any]) -> None:
        payload = await self.tools.update_note(**self.at(at), note=note, **changes)
        record = self.model.record(at)
        wanted = {"content": changes["content"]} if "content" in changes else {}
        wanted |= {"when": stored_when(changes["when"])} if "when" in changes else {}
        self.check(
            payload, succeeds=bool(changes) and record is not None and record.edit(note, wanted)
        )

    async def _delete_note(self, at: str | Ends, note: str) -> None:
        payload = await self.tools.delete_note(**self.at(at), note=note)
        record = self.model.record(at)
        self.check(payload, succeeds=record is not None and record.edit(note, None))

    async def _delete_relationship(self, at: Ends) -> None:
        payload = await self.tools.delete_relationship(**self.ends(at))
        self.check(payload, succeeds=at in self.model.relationships)
        if payload["success"]:
            self.model.delete_relationship(at, "")

    async def _restore_relationship(self, at: Ends) -> None:
        payload = await self.tools.restore(**self.ends(at))
        self.check(payload, succeeds=self.model.restore_relationship(at))

    async def _restore_value(self, at: str | Ends, field: str) -> None:
        payload = await self.tools.restore(**self.at(at), field=field)
        record = self.model.record(at)
        values = None if record is None else record.former(field)
        self.check(payload, succeeds=values is not None)
        if record is not None and values is not None:
            ended = with_time(record, values, replaces=True, ends=False)
            record.change(values, self.clock(), corrected=True, ended=ended)

    async def _undone_merge(self, keep_and_drop: tuple[str, str]) -> None:
        keep, drop = (self.model.keys[name] for name in keep_and_drop)
        payload = await self.tools.merge_nodes(keep_entity_key=keep, drop_entity_key=drop)
        self.check(payload, succeeds=set(keep_and_drop) <= self.model.nodes.keys())
        if payload["success"]:
            succeeded(await self.tools.restore(entity_key=drop))

    async def _delete_node(self, at: str) -> None:
        payload = await self.tools.delete_node(**self.at(at), delete_relationships=True)
        self.check(payload, succeeds=self.model.delete_node(at))

    async def _restore_node(self, at: str) -> None:
        payload = await self.tools.restore(**self.at(at))
        self.check(payload, succeeds=self.model.restore_node(at))

    async def _merge_nodes(self, keep_and_drop: tuple[str, str]) -> None:
        """Merge, check that nothing is lost, and go on with what is stored; another test compares
        merges in detail.
        """
        keep, drop = keep_and_drop
        keys = self.model.keys
        payload = await self.tools.merge_nodes(
            keep_entity_key=keys[keep], drop_entity_key=keys[drop]
        )
        before = self.model
        self.check(payload, succeeds={keep, drop} <= before.nodes.keys())
        if not payload["success"]:
            return
        node = succeeded(await self.tools.create_node(label=LABELS[drop], name=drop))
        keys[drop] = node["entity_key"]
        await self.adopt()
        before.nodes.setdefault(drop, Record(created=self.clock()))
        for at, record in [*before.nodes.items(), *before.relationships.items()]:
            into = (
                keep
                if at in {keep, drop, (keep, drop)}
                else tuple(keep if name == drop else name for name in at)
            )
            after = self.model.record(at if isinstance(at, str) and at != drop else into)  # type: ignore[arg-type]
            assert after is not None, at
            assert {note.identity for note in record.notes} <= {
                note.identity for note in after.notes
            }, at
            if at != (keep, drop):
                assert [entry for entry in record.history if entry not in after.history] == [], at
        self.model.forget_deleted(drop)

    async def adopt(self) -> None:
        """Read the records of the model from what is stored."""
        names, before = self.names, self.model
        self.model = UserModel(
            before.keys, deleted=before.deleted, deleted_nodes=before.deleted_nodes
        )
        for stored in await nodes_of(self.graph, self.user_id):
            self.model.nodes[names[stored["entity_key"]]] = self.read(stored)
        for stored in await relationships_of(self.graph, self.user_id):
            self.model.relationships[names[stored["first"]], names[stored["second"]]] = self.read(
                stored
            )

    def read(self, stored: Mapping[str, Any]) -> Record:
        """A stored record."""
        return Record(
            {name: stored[name] for name in HISTORY_FIELDS if name in stored},
            [self.read_note(note) for note in json.loads(stored.get("notes") or "[]")],
            [self.read_entry(entry) for entry in json.loads(stored.get("history") or "[]")],
            said_on=stored.get("said_on"),
            source=stored.get("source_entity_key"),
            created=stored["created_at"].to_native(),
        )

    async def _time_passes(self) -> None:
        self.clock.forward(days=8)

    async def _export_and_import(self) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "all.jsonl"
            await self.graph.export(path, user_id=self.user_id)
            await self.graph.forget(user_id=self.user_id)
            await self.graph.import_records(path)

    async def _migrate(self) -> None:
        await self.graph.migrate(user_id=self.user_id)

    async def _forget(self) -> None:
        await self.graph.forget(user_id=self.user_id)
        await self.plant()

    def add_notes(self, record: Record, notes: list[dict[str, Any]]) -> None:
        """Add notes to a record of the model."""
        for note in notes:
            record.add(self.model.note(note, self.clock()), self.clock())

    def check(self, payload: Payload, *, succeeds: bool) -> None:
        """Check whether a tool did its work."""
        assert payload["success"] is succeeds, payload
        assert_nothing_hidden(payload)
        assert "internal error" not in payload.get("error", "")

    # Reads.

    async def _relationship_vector_search(self, filters: Filter, plan: str) -> None:
        found = await self.by(plan).retrieval.relationship_vector_search(
            "Who?", -1.0, user_id=self.user_id, limit=100, **_given(filters)
        )
        expected = {
            ends: filters.notes(record, self.clock())
            for ends, record in self.model.relationships.items()
            if filters.keeps(ends, record)
        }
        self.compare_relationships(found, expected, filters)

    async def _hybrid_search(self, filters: Filter, plan: str) -> None:
        request = {
            "query": "Who?",
            "threshold": -1.0,
            "limit": 100,
            "relationship_limit": 100,
            **_given(filters),
        }
        found = await self.by(plan).retrieval.hybrid_search(
            HybridSearchRequest.model_validate(request), user_id=self.user_id
        )
        relationships, nodes = self.model.found(filters, self.clock())
        self.compare_relationships(found.relationships, relationships, filters)
        self.compare_nodes(found.objects, nodes, filters)

    async def _explore(self, filters: Filter) -> None:
        request = {
            "queries": [{"query": "Who?", "threshold": -1.0}],
            "limit_per_label": 100,
            **_given(filters),
        }
        found = await self.graph.retrieval.explore(
            ExploreRequest.model_validate(request), user_id=self.user_id
        )
        relationships, nodes = self.model.found(filters, self.clock())
        self.compare_relationships(found.relationships, relationships, filters)
        self.compare_nodes([one.node for one in found.nodes], nodes, filters)

    async def _timeline(self, at: str, between: str | None) -> None:
        payload = await self.tools.get_relationship(
            from_entity_key=self.model.keys[at], between=between or "../..", token_budget=20_000
        )
        self.check(payload, succeeds=at in self.model.nodes)
        if payload["success"]:
            expected = self.model.timeline(at, between, self.clock())
            shown = [(one["when"], one.get("content", "")) for one in payload.get("statements", ())]
            assert [days_of(when) for when, _ in shown] == [days for days, _, _ in expected]
            assert sorted(shown) == sorted((when, text) for _, when, text in expected)

    async def _get_relationship(self, at: str | Ends) -> None:
        given = {"from_entity_key": self.model.keys[at]} if isinstance(at, str) else self.ends(at)
        payload = await self.tools.get_relationship(**given, token_budget=20_000)
        record = self.model.record(at)
        self.check(payload, succeeds=record is not None)
        if record is None:
            return
        shown = payload["node" if isinstance(at, str) else "relationship"]
        # The values of a field stand in their order.
        history = [self.read_entry(entry) for entry in reversed(shown.get("history", ()))]
        former = [entry for entry in record.history if entry.value is not None]
        assert sorted(history, key=attrgetter("field")) == sorted(former, key=attrgetter("field"))
        # All notes are listed; those that have expired with the day until which they held.
        notes = [self.read_note(note) for note in shown.get("notes", ())]
        assert Counter(notes) == Counter(note.shown for note in record.notes)
        for name in HISTORY_FIELDS:
            assert shown.get(name) == (record.values.get(name) or None)

    def by(self, plan: str) -> KnowledgeGraph:
        """The graph that searches by a plan."""
        return self.indexed if plan == "index" else self.graph

    def read_note(self, note: Mapping[str, Any]) -> Note:
        """A note of an answer."""
        expiry = note.get("expires_at")
        return Note(
            note["content"],
            note.get("when"),
            note.get("source_entity_key"),
            None if expiry is None else datetime.fromisoformat(expiry),
            note.get("said_on"),
            datetime.fromisoformat(note["date_added"]).date(),
        )

    def read_entry(self, entry: Mapping[str, Any]) -> Replaced:
        """An entry of a history in an answer."""
        assert entry["by"] == self.user_id
        until = datetime.fromisoformat(entry["until"])
        corrected = entry.get("corrected", False)
        times = (entry.get(name) for name in ("ended", "said_on", "when"))
        source = entry.get("source_entity_key")
        return Replaced(entry["field"], entry["value"], until, source, corrected, *times)

    def compare_relationships(
        self, found: Any, expected: dict[Ends, list[Note]], filters: Filter
    ) -> None:
        """Compare the relationships of an answer with those of the model, as they were and were
        known at the times of a search.
        """
        by_ends = {}
        for one in found:
            ends = (self.names[one.from_entity_key], self.names[one.to_entity_key])
            assert ends not in by_ends
            by_ends[ends] = self.current(one)
            assert one.neo4j_type == TYPES[LABELS[ends[0]], LABELS[ends[1]]]
            known = self.model.relationships[ends].known_on(filters.known_as_of)
            assert known is not None
            values = known.values_on(filters.as_of)
            for name in HISTORY_FIELDS:
                assert (getattr(one, name) or None) == (values.get(name) or None), (name, filters)
        assert by_ends == {ends: shown_notes(notes) for ends, notes in expected.items()}

    def compare_nodes(self, found: Any, expected: dict[str, list[Note]], filters: Filter) -> None:
        """Compare the nodes of an answer with those of the model, likewise."""
        for one in found:
            known = self.model.nodes[self.names[one.entity_key]].known_on(filters.known_as_of)
            assert known is not None
            values = known.values_on(filters.as_of)
            assert (one.description or None) == (values.get("description") or None), filters
        nodes = [(self.names[one.entity_key], self.current(one)) for one in found]
        assert sorted(nodes) == sorted(
            (name, shown_notes(notes)) for name, notes in expected.items()
        )

    def current(self, item: Any) -> Any:
        """The notes of an item that have not expired, in the form of `shown_notes`."""
        now = self.clock()
        return sorted(
            (note.content, note.when or "")
            for note in item.notes
            if note.expires_at is None or note.expires_at > now
        )


def _given(filters: Filter) -> dict[str, Any]:
    return {name: value for name, value in asdict(filters).items() if value is not None}


@pytest.mark.usefixtures("part")
@examples(17)
@given(mine=steps(), theirs=steps())
async def test_searches_timelines_and_histories_have_the_rows_of_the_model(
    graph: KnowledgeGraph, embedder: WatchedEmbedder, mine: list[Step], theirs: list[Step]
) -> None:
    async def work(user: User, steps: list[Step]) -> None:
        for number, (name, arguments) in enumerate(steps):
            try:
                await user.take(name, arguments)
            except AssertionError as error:
                error.add_note(f"in step {number}: {name} {arguments}")
                raise

    users = [await User.new(graph, embedder) for _ in range(2)]
    try:
        await asyncio.gather(
            *(work(user, steps) for user, steps in zip(users, (mine, theirs), strict=True))
        )
        for user in users:
            # Expired notes leave the embedded texts with the next write or migration.
            await user.graph.migrate(user_id=user.user_id)
            await assert_embeddings_are_current(graph, user.user_id, embedder, user.clock())
    finally:
        for user in users:
            await user.graph.forget(user_id=user.user_id)


HOMES = ("Oslo", "Rome", "Bath", "Kyiv")

days = st.dates(date(2019, 1, 1), date(2020, 12, 31))
facts_of_homes = with_optional(
    {"home": st.sampled_from(HOMES)},
    when=st.tuples(days, st.none() | days).filter(
        lambda when: when[1] is None or when <= when[::-1]
    ),
    correction=flag,
)
calls = st.fixed_dictionaries(
    {"said": days, "facts": st.lists(facts_of_homes, min_size=1, max_size=10), "as_of": days}
)


@pytest.mark.usefixtures("part")
@examples(4)
@given(calls=st.lists(calls, min_size=6, max_size=6))
async def test_of_homes_told_in_any_order_a_day_has_that_of_the_model(
    graph: KnowledgeGraph, calls: list[dict[str, Any]]
) -> None:
    user_id, model, wrong = f"user-{uuid4()}", OneValue(), set[str]()
    tools = graph.tools(user_id=user_id)
    nodes = [{"label": "Person", "name": "Anna"}]
    nodes += [{"label": "Entity", "name": home} for home in HOMES]
    succeeded(await tools.remember(nodes=nodes))
    try:
        for number, call in enumerate(calls):
            said, items = call["said"], []
            for one in call["facts"]:
                home = one["home"]
                item: dict[str, Any] = {"relationship_type": "lives in"}
                if home in wrong:
                    continue
                if when := one.get("when"):
                    first, last = when
                    item["when"] = f"{first}/{last or '..'}"
                    model.tell(home, said, (first, last or date.max))
                else:
                    if one.get("correction") and number > 2:
                        item["correction"] = True
                        wrong |= (denied := model.rivals(home, said))
                        for other in denied:
                            model.deny(other)
                    model.tell(home, said)
                items.append({"from": "Anna", "to": home, **item})
            if not items:
                continue
            payload = await tools.remember(relationships=items, said_on=str(said))
            assert payload["failures"] == []
            found = await graph.retrieval.relationship_vector_search(
                "Who?",
                -1.0,
                user_id=user_id,
                limit=100,
                as_of=str(call["as_of"]),
                relationship_types=["lives in"],
            )
            homes = {one.to_name for one in found}
            assert homes == model.on(call["as_of"]), f"in call {number}: {items} {said} {model}"
    finally:
        await graph.forget(user_id=user_id)
