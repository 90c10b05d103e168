"""One agent of the soak test: valid calls on records of its own, and mutated and hostile ones."""

import copy
from random import Random
from typing import TYPE_CHECKING, Any

from kgagent.tools import Payload
from tests.adversarial.soak_model import Change, Ends, Node, Relationship, Zone

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from tests.adversarial.soak import World

Arguments = dict[str, Any]

MOST_NODES = 25
"""Nodes of an agent; with more, it deletes instead of creating."""

WORDS = (
    "harbor",
    "kite",
    "lantern",
    "orchard",
    "violin",
    "glacier",
    "compass",
    "saffron",
    "meadow",
    "anchor",
    "quarry",
)
TYPES = ("friend", "mentor of", "colleague", "taught", "admires")
INVALID: tuple[Any, ...] = (
    *(None, "", " ", "\x00", "x" * 5_000, "\u202ename", "\ud800", "me", "💥" * 200, "é" * 300),
    *(
        "'; MATCH (n) DETACH DELETE n //",
        "`}) DETACH DELETE n //",
        "$user_id",
        "* OR name:*",
        "a/b\\c^~[1 TO 2]{",
    ),
    *(-1, 0, 6, 10**30, 1.5, 1e308, float("nan"), float("inf"), True),
    *([], {}, [[]], [None], {"a": {"b": 1}}, ["x"] * 300, {f"k{i}": i for i in range(150)}),
)


class Agent:
    """Makes one random call after the other."""

    def __init__(
        self, world: "World", user: str, place: int, *, seed: int, fuzz: bool = False
    ) -> None:
        self._world = world
        self._user = user
        self._tools = world.tools(user, place)
        self._random = Random(f"{seed} {user} {place}")
        self._prefix = f"agent{place}"
        world.zones[user].setdefault(self._prefix, Zone())
        self._scrap: list[str] = []
        self._count = 0
        self._valid: dict[Callable[[], Awaitable[None]], int] = {
            self._create_node: 8,
            self._remember: 4,
            self._update_node: 4,
            self._create_relationship: 10,
            self._update_relationship: 6,
            self._add_note: 8,
            self._change_note: 3,
            self._delete_relationship: 3,
            self._restore_relationship: 3,
            self._delete_node: 3,
            self._restore_node: 2,
            self._merge_nodes: 1,
            self._share: 8,
            self._read: 14,
            self._mutate: 20,
            self._attack: 3,
        }
        if fuzz:
            self._valid |= {self._mutate: 1_600, self._attack: 80}

    async def run(self, steps: int) -> None:
        """Take so many steps, most of them one call."""
        for _ in range(steps):
            [step] = self._random.choices(list(self._valid), list(self._valid.values()))
            await step()

    async def _call(self, tool: str, arguments: Arguments, kind: str = "valid") -> Payload | None:
        return await self._world.call(self._tools, self._user, tool, arguments, kind=kind)

    async def _write(self, tool: str, arguments: Arguments, *changes: Change) -> bool:
        """Make a call that must succeed and changes the zone; whether it did.

        If a fault hides what it did, nothing more is written to the zone until the next comparison
        has shown it.
        """
        if (self._user, self._prefix) in self._world.doubts:
            return False
        answer = await self._call(tool, arguments)
        if answer is None or answer.get("failures"):
            if self._world.has_faults:
                self._world.doubts[self._user, self._prefix] = changes
            return False
        made = [answer.get("node"), *answer.get("created_nodes", ())]
        keys = {str(node["name"]): str(node["entity_key"]) for node in made if node is not None}
        for change in changes:
            change(self._zone, keys)
        return True

    @property
    def _zone(self) -> Zone:
        return self._world.zones[self._user][self._prefix]

    def _text(self) -> str:
        """A sentence that no other call has, with the word of the user."""
        self._count += 1
        words = " ".join(self._random.choices(WORDS, k=self._random.randint(3, 12)))
        return f"{words} {self._prefix}-{self._count} {self._world.word(self._user)}"

    def _new_node(self, label: str) -> Arguments:
        self._count += 1
        return {
            "label": label,
            "name": f"{self._prefix} {self._count}",
            "description": self._text(),
        }

    def _some_node(self, label: str | None = None) -> str | None:
        keys = [key for key, node in self._zone.nodes.items() if label in (None, node.label)]
        return self._random.choice(keys) if keys else None

    def _some_ends(self) -> Ends | None:
        return (
            self._random.choice(list(self._zone.relationships))
            if self._zone.relationships
            else None
        )

    def _addressed(self, ends: Ends) -> Arguments:
        """The ends as arguments, in either order."""
        first, second = ends if self._random.random() < 0.7 else ends[::-1]
        return {"from_entity_key": first, "to_entity_key": second}

    def _created(self, arguments: Arguments) -> Change:
        """That a node is created."""
        notes = list(arguments.get("notes", ()))

        def change(zone: Zone, keys: "Mapping[str, str]") -> None:
            key = keys[arguments["name"]]
            zone.nodes[key] = Node(
                arguments["name"], arguments["description"], arguments["label"], list(notes)
            )
            self._world.keys[self._user].append(key)

        return change

    async def _create_node(self) -> None:
        if len(self._zone.nodes) >= MOST_NODES:
            return await self._delete_node()
        arguments = self._new_node(self._random.choice(("Person", "Person", "Concept", "Entity")))
        if self._random.random() < 0.3:
            arguments["notes"] = [self._text()]
        await self._write("create_node", arguments, self._created(arguments))
        return None

    async def _remember(self) -> None:
        """Two people with a relationship that has a note, in one call; their keys are read
        afterwards.
        """
        if len(self._zone.nodes) >= MOST_NODES:
            return await self._delete_node()
        people = [{**self._new_node("Person"), "ref": f"p{place}"} for place in range(2)]
        between = {"from": "p0", "to": "p1", **self._values()}
        note = self._text()
        call = {
            "nodes": people,
            "relationships": [between],
            "notes": [{"on": ["p0", "p1"], "content": note}],
        }
        values = {name: value for name, value in between.items() if name not in {"from", "to"}}
        first, second = (str(person["name"]) for person in people)

        def related(zone: Zone, keys: "Mapping[str, str]") -> None:
            zone.relationships[keys[first], keys[second]] = Relationship(dict(values))

        def noted(zone: Zone, keys: "Mapping[str, str]") -> None:
            zone.relationships[keys[first], keys[second]].notes.append(note)

        await self._write(
            "remember", {**call, "verbose": True}, *map(self._created, people), related, noted
        )
        return None

    async def _update_node(self) -> None:
        if key := self._some_node():
            description, note = self._text(), self._text()

            def change(zone: Zone, _: "Mapping[str, str]") -> None:
                zone.nodes[key].description = description
                zone.nodes[key].notes.append(note)

            await self._write(
                "update_node",
                {"entity_key": key, "description": description, "notes": [note]},
                change,
            )

    def _values(self) -> Arguments:
        return {
            "relationship_type": self._random.choice(TYPES),
            "description": self._text(),
            "attitude": self._random.randint(1, 5),
            "proximity": self._random.randint(1, 5),
        }

    async def _create_relationship(self) -> None:
        first, second = self._some_node("Person"), self._some_node()
        if first and second and first != second and not self._zone.has(first, second):
            values = self._values()
            ends = {"from_entity_key": first, "to_entity_key": second}

            def change(zone: Zone, _: "Mapping[str, str]") -> None:
                zone.relationships[first, second] = Relationship(dict(values))

            await self._write("create_relationship", {**ends, **values}, change)

    async def _update_relationship(self) -> None:
        if ends := self._some_ends():
            values = self._values()
            del values["relationship_type"]
            changed = dict(
                self._random.sample(sorted(values.items()), self._random.randint(1, len(values)))
            )

            def change(zone: Zone, _: "Mapping[str, str]") -> None:
                known = zone.relationships[ends]
                known.values = {**(known.values or {}), **changed}

            await self._write("update_relationship", {**self._addressed(ends), **changed}, change)

    async def _add_note(self) -> None:
        if ends := self._some_ends():
            note = self._text()

            def change(zone: Zone, _: "Mapping[str, str]") -> None:
                zone.relationships[ends].notes.append(note)

            await self._write(
                "add_note_to_relationship", {**self._addressed(ends), "content": note}, change
            )

    async def _change_note(self) -> None:
        noted = [ends for ends, each in self._zone.relationships.items() if each.notes]
        if not noted:
            return
        ends = self._random.choice(noted)
        old, new = self._random.choice(self._zone.relationships[ends].notes), self._text()
        is_update = self._random.random() < 0.5

        def change(zone: Zone, _: "Mapping[str, str]") -> None:
            notes = zone.relationships[ends].notes
            if is_update:
                notes[notes.index(old)] = new
            else:
                notes.remove(old)

        addressed = {**self._addressed(ends), "note": old}
        if is_update:
            await self._write("update_note", {**addressed, "content": new}, change)
        else:
            await self._write("delete_note", addressed, change)

    async def _delete_relationship(self) -> None:
        if ends := self._some_ends():

            def change(zone: Zone, _: "Mapping[str, str]") -> None:
                zone.unrelated[ends] = zone.relationships.pop(ends)

            await self._write("delete_relationship", self._addressed(ends), change)

    async def _restore_relationship(self) -> None:
        restorable = [
            ends for ends in self._zone.unrelated if all(key in self._zone.nodes for key in ends)
        ]
        if restorable:
            ends = self._random.choice(restorable)

            def change(zone: Zone, _: "Mapping[str, str]") -> None:
                zone.relationships[ends] = zone.unrelated.pop(ends)

            await self._write("restore", self._addressed(ends), change)

    async def _delete_node(self) -> None:
        if not (key := self._some_node()):
            return
        related = self._zone.related(key)

        def change(zone: Zone, _: "Mapping[str, str]") -> None:
            lost = {ends: zone.relationships.pop(ends) for ends in related}
            zone.deleted[key] = (zone.nodes.pop(key), lost)
            zone.gone.add(key)

        await self._write(
            "delete_node", {"entity_key": key, "delete_relationships": bool(related)}, change
        )

    async def _restore_node(self) -> None:
        """Only the last deleted node, whose neighbors are all there."""
        if not self._zone.deleted or (self._user, self._prefix) in self._world.doubts:
            return
        key, (node, relationships) = self._zone.deleted.popitem()
        if any(
            other != key and other not in self._zone.nodes
            for ends in relationships
            for other in ends
        ):
            return

        def change(zone: Zone, _: "Mapping[str, str]") -> None:
            zone.nodes[key] = node
            zone.relationships |= relationships
            zone.gone.discard(key)

        await self._write("restore", {"entity_key": key}, change)

    async def _merge_nodes(self) -> None:
        """Two new nodes without relationships: their notes are together afterwards, and the lost
        description is one.
        """
        people = [{**self._new_node("Person"), "notes": [self._text()]} for _ in range(2)]
        for person in people:
            if not await self._write("create_node", person, self._created(person)):
                return
        by_name = {node.name: key for key, node in self._zone.nodes.items()}
        keep, drop = (by_name[str(person["name"])] for person in people)

        def change(zone: Zone, _: "Mapping[str, str]") -> None:
            dropped = zone.nodes.pop(drop)
            zone.gone.add(drop)
            zone.nodes[keep].notes += [*dropped.notes, dropped.description]

        await self._write("merge_nodes", {"keep_entity_key": keep, "drop_entity_key": drop}, change)

    async def _share(self) -> None:
        """Write to the relationship that all agents of the user write to."""
        ends = self._world.shared[self._user]
        addressed = self._addressed(ends)
        if self._random.random() < 0.3:
            await self._call("update_relationship", {**addressed, "description": self._text()})
            return
        note = self._text()
        answer = await self._call("add_note_to_relationship", {**addressed, "content": note})
        known = self._world.zones[self._user]["shared"].relationships[ends]
        if answer is not None:
            known.notes.append(note)
        elif self._world.has_faults:
            known.doubtful_notes.append(note)

    def _read_call(self) -> tuple[str, Arguments] | None:
        query = " ".join(self._random.choices(WORDS, k=3))
        key, ends = self._some_node(), self._some_ends()
        step = {
            "source_label": "Person",
            "relation_type": "has_relationship_with",
            "target_label": "Person",
        }
        calls: list[tuple[str, Arguments]] = [
            ("explore", {"queries": [{"query": query}]}),
            (
                "explore",
                {"queries": [{"query": query}], "text_matches": [self._random.choice(WORDS)]},
            ),
            ("hybrid_search", {"query": query}),
            ("describe_graph", {}),
            ("query_patterns", {"query": query, "patterns": [{"steps": [step]}]}),
        ]
        if key:
            calls.append(("traverse", {"entity_key": key, "hops": self._random.randint(1, 3)}))
        if ends:
            calls += [
                ("get_relationship", self._addressed(ends)),
                ("find_paths", self._addressed(ends)),
            ]
        return self._random.choice(calls)

    async def _read(self) -> None:
        if chosen := self._read_call():
            await self._call(*chosen)

    def _scrap_call(self) -> tuple[str, Arguments]:
        """A call that writes to records whose content is not modelled, or that reads."""
        first, second = (self._random.choice(self._scrap) for _ in range(2))
        ends = {"from_entity_key": first, "to_entity_key": second}
        values = self._values()
        item = {**ends, **values}
        node = {**self._new_node("Entity"), "name": f"scrap {self._text()}"}
        calls: list[tuple[str, Arguments]] = [
            ("create_node", node),
            (
                "remember",
                {
                    "nodes": [{**node, "ref": "x"}],
                    "relationships": [{"from": first, "to": "x", **self._values()}],
                },
            ),
            (
                "remember",
                {
                    "notes": [
                        {"on": first, "content": self._text()},
                        {"on": [first, second], "content": "a"},
                    ]
                },
            ),
            (
                "update_node",
                {"entity_key": first, "description": self._text(), "notes": [self._text()]},
            ),
            ("create_relationship", item),
            ("update_relationship", item),
            ("add_note_to_relationship", {**ends, "content": self._text(), "lifetime": "month"}),
            ("update_note", {"entity_key": first, "note": "a", "content": self._text()}),
            ("delete_note", {**ends, "note": "a"}),
            ("delete_relationship", ends),
            ("restore", ends),
            ("delete_node", {"entity_key": first, "delete_relationships": True}),
            ("restore", {"entity_key": first}),
            ("merge_nodes", {"keep_entity_key": first, "drop_entity_key": second}),
        ]
        return self._random.choice(calls)

    async def _mutate(self) -> None:
        """A call with something wrong in it, perhaps the key of another user's node."""
        if len(self._scrap) < 2 or self._random.random() < 0.05:
            node = {**self._new_node("Person"), "name": f"scrap {self._text()}"}
            if answer := await self._call("create_node", node):
                self._scrap = [*self._scrap[-20:], str(answer["node"]["entity_key"])]
            return
        tool, arguments = (
            self._scrap_call()
            if self._random.random() < 0.7
            else self._read_call() or ("explore", {})
        )
        mutated = copy.deepcopy(arguments)
        for _ in range(self._random.randint(1, 2)):
            self._mutate_one(mutated)
        await self._call(tool, mutated, "mutated")

    def _mutate_one(self, arguments: Arguments) -> None:
        """Change one value, at any depth: remove it, add one, replace it, or put another user's key
        in its place.
        """
        place: Any = arguments
        while True:
            keys: list[Any] = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = self._random.choice(keys)
            if isinstance(place[key], (dict, list)) and place[key] and self._random.random() < 0.8:
                place = place[key]
                continue
            match self._random.randrange(5):
                case 0:
                    del place[key]
                case 1 if isinstance(place, dict):
                    place[self._random.choice((*WORDS, "user_id", "labels", "cypher"))] = place[key]
                case 2:
                    place[key] = [place[key]] * 3
                case 3 if foreign := self._world.foreign_key(self._random, self._user):
                    place[key] = foreign if self._random.random() < 0.7 else foreign[:8]
                case _:
                    place[key] = self._random.choice(INVALID)
            break

    async def _attack(self) -> None:
        """The next of the calls that are expensive to refuse."""
        call = self._world.next_hostile()
        await self._world.call(self._tools, self._user, call.tool, call.arguments, kind="hostile")
