"""One agent of the soak test: valid calls on records of its own, and mutated and hostile ones."""

import copy
from random import Random
from typing import TYPE_CHECKING, Any

from kgagent.tools import Payload
from tests.adversarial.soak_model import Ends, Node, Relationship, Zone

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

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
    *("'; MATCH (n) DETACH DELETE n //", "`}) DETACH DELETE n //", "$user_id", "* OR name:*", "a/b\\c^~[1 TO 2]{"),
    *(-1, 0, 6, 10**30, 1.5, 1e308, float("nan"), float("inf"), True),
    *([], {}, [[]], [None], {"a": {"b": 1}}, ["x"] * 300, {f"k{i}": i for i in range(150)}),
)


class Agent:
    """Makes one random call after the other."""

    def __init__(self, world: "World", user: str, place: int, *, seed: int) -> None:
        self._world = world
        self._user = user
        self._tools = world.tools(user, place)
        self._random = Random(f"{seed} {user} {place}")
        self._prefix = f"agent{place}"
        self._zone = world.zones[user].setdefault(self._prefix, Zone())
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

    async def run(self, steps: int) -> None:
        """Take so many steps, most of them one call."""
        for _ in range(steps):
            [step] = self._random.choices(list(self._valid), list(self._valid.values()))
            await step()

    async def _call(self, tool: str, arguments: Arguments, kind: str = "valid") -> Payload | None:
        return await self._world.call(self._tools, self._user, tool, arguments, kind=kind)

    def _text(self) -> str:
        """A sentence that no other call has, with the word of the user."""
        self._count += 1
        words = " ".join(self._random.choices(WORDS, k=self._random.randint(3, 12)))
        return f"{words} {self._prefix}-{self._count} {self._world.word(self._user)}"

    def _new_node(self, label: str) -> Arguments:
        self._count += 1
        return {"label": label, "name": f"{self._prefix} {self._count}", "description": self._text()}

    def _some_node(self, label: str | None = None) -> str | None:
        keys = [key for key, node in self._zone.nodes.items() if label in (None, node.label)]
        return self._random.choice(keys) if keys else None

    def _some_ends(self) -> Ends | None:
        return self._random.choice(list(self._zone.relationships)) if self._zone.relationships else None

    def _addressed(self, ends: Ends) -> Arguments:
        """The ends as arguments, in either order."""
        first, second = ends if self._random.random() < 0.7 else ends[::-1]
        return {"from_entity_key": first, "to_entity_key": second}

    def _created(self, key: str, arguments: Arguments) -> None:
        notes = list(arguments.get("notes", ()))
        self._zone.nodes[key] = Node(arguments["name"], arguments["description"], arguments["label"], notes)
        self._world.keys[self._user].append(key)

    async def _create_node(self) -> None:
        if len(self._zone.nodes) >= MOST_NODES:
            return await self._delete_node()
        arguments = self._new_node(self._random.choice(("Person", "Person", "Concept", "Entity")))
        if self._random.random() < 0.3:
            arguments["notes"] = [self._text()]
        if answer := await self._call("create_node", arguments):
            self._created(str(answer["node"]["entity_key"]), arguments)
        return None

    async def _remember(self) -> None:
        """Two people with a relationship that has a note, in one call; their keys are read afterwards."""
        if len(self._zone.nodes) >= MOST_NODES:
            return await self._delete_node()
        people = [{**self._new_node("Person"), "ref": f"p{place}"} for place in range(2)]
        between = {"from": "p0", "to": "p1", **self._values()}
        note = self._text()
        call = {"nodes": people, "relationships": [between], "notes": [{"on": ["p0", "p1"], "content": note}]}
        if (answer := await self._call("remember", {**call, "verbose": True})) is None:
            return None
        made = {node["ref"]: str(node["entity_key"]) for node in answer["created_nodes"]}
        keys = [made[person["ref"]] for person in people]
        for key, person in zip(keys, people, strict=True):
            self._created(key, person)
        values = {name: value for name, value in between.items() if name not in {"from", "to"}}
        self._zone.relationships[keys[0], keys[1]] = Relationship(values, [note])
        return None

    async def _update_node(self) -> None:
        if key := self._some_node():
            description, note = self._text(), self._text()
            if await self._call("update_node", {"entity_key": key, "description": description, "notes": [note]}):
                self._zone.nodes[key].description = description
                self._zone.nodes[key].notes.append(note)

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
            if await self._call("create_relationship", {**ends, **values}):
                self._zone.relationships[first, second] = Relationship(values)

    async def _update_relationship(self) -> None:
        if ends := self._some_ends():
            values = self._values()
            del values["relationship_type"]
            changed = dict(self._random.sample(sorted(values.items()), self._random.randint(1, len(values))))
            if await self._call("update_relationship", {**self._addressed(ends), **changed}):
                known = self._zone.relationships[ends]
                known.values = {**(known.values or {}), **changed}

    async def _add_note(self) -> None:
        if ends := self._some_ends():
            note = self._text()
            if await self._call("add_note_to_relationship", {**self._addressed(ends), "content": note}):
                self._zone.relationships[ends].notes.append(note)

    async def _change_note(self) -> None:
        noted = [ends for ends, each in self._zone.relationships.items() if each.notes]
        if not noted:
            return
        ends = self._random.choice(noted)
        notes = self._zone.relationships[ends].notes
        old, new = self._random.choice(notes), self._text()
        if self._random.random() < 0.5:
            if await self._call("update_note", {**self._addressed(ends), "note": old, "content": new}):
                notes[notes.index(old)] = new
        elif await self._call("delete_note", {**self._addressed(ends), "note": old}):
            notes.remove(old)

    async def _delete_relationship(self) -> None:
        if (ends := self._some_ends()) and await self._call("delete_relationship", self._addressed(ends)):
            self._zone.unrelated[ends] = self._zone.relationships.pop(ends)

    async def _restore_relationship(self) -> None:
        restorable = [ends for ends in self._zone.unrelated if all(key in self._zone.nodes for key in ends)]
        if restorable:
            ends = self._random.choice(restorable)
            if await self._call("restore_relationship", self._addressed(ends)):
                self._zone.relationships[ends] = self._zone.unrelated.pop(ends)

    async def _delete_node(self) -> None:
        if not (key := self._some_node()):
            return
        related = self._zone.related(key)
        if await self._call("delete_node", {"entity_key": key, "delete_relationships": bool(related)}):
            lost = {ends: self._zone.relationships.pop(ends) for ends in related}
            self._zone.deleted[key] = (self._zone.nodes.pop(key), lost)
            self._zone.gone.add(key)

    async def _restore_node(self) -> None:
        """Only the last deleted node, whose neighbors are all there."""
        if not self._zone.deleted:
            return
        key, (node, relationships) = self._zone.deleted.popitem()
        if any(other != key and other not in self._zone.nodes for ends in relationships for other in ends):
            return
        if await self._call("restore_node", {"entity_key": key}):
            self._zone.nodes[key] = node
            self._zone.relationships |= relationships
            self._zone.gone.discard(key)

    async def _merge_nodes(self) -> None:
        """Two new nodes without relationships: their notes are together afterwards."""
        made = []
        for _ in range(2):
            arguments = {**self._new_node("Person"), "notes": [self._text()]}
            if answer := await self._call("create_node", arguments):
                made.append((str(answer["node"]["entity_key"]), arguments))
                self._created(*made[-1])
        if len(made) < 2:
            return
        [(keep, _), (drop, _)] = made
        if await self._call("merge_nodes", {"keep_entity_key": keep, "drop_entity_key": drop}):
            dropped = self._zone.nodes.pop(drop)
            self._zone.gone.add(drop)
            self._zone.nodes[keep].notes += dropped.notes

    async def _share(self) -> None:
        """Write to the relationship that all agents of the user write to."""
        ends = self._world.shared[self._user]
        addressed = self._addressed(ends)
        if self._random.random() < 0.3:
            await self._call("update_relationship", {**addressed, "description": self._text()})
            return
        note = self._text()
        if await self._call("add_note_to_relationship", {**addressed, "content": note}):
            self._world.zones[self._user]["shared"].relationships[ends].notes.append(note)

    def _read_call(self) -> tuple[str, Arguments] | None:
        query = " ".join(self._random.choices(WORDS, k=3))
        key, ends = self._some_node(), self._some_ends()
        step = {"source_label": "Person", "relation_type": "has_relationship_with", "target_label": "Person"}
        calls: list[tuple[str, Arguments]] = [
            ("explore", {"queries": [{"query": query}]}),
            ("explore", {"queries": [{"query": query}], "text_matches": [self._random.choice(WORDS)]}),
            ("hybrid_search", {"query": query}),
            ("describe_graph", {}),
            ("query_patterns", {"query": query, "patterns": [{"steps": [step]}]}),
        ]
        if key:
            calls.append(("traverse", {"entity_key": key, "hops": self._random.randint(1, 3)}))
        if ends:
            calls += [("get_relationship", self._addressed(ends)), ("find_paths", self._addressed(ends))]
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
                {"nodes": [{**node, "ref": "x"}], "relationships": [{"from": first, "to": "x", **self._values()}]},
            ),
            ("remember", {"notes": [{"on": first, "content": self._text()}, {"on": [first, second], "content": "a"}]}),
            ("update_node", {"entity_key": first, "description": self._text(), "notes": [self._text()]}),
            ("create_relationship", item),
            ("create_relationships", {"relationships": [item, dict(item)]}),
            ("update_relationship", item),
            ("update_relationships", {"relationships": [item]}),
            ("add_note_to_relationship", {**ends, "content": self._text(), "lifetime": "month"}),
            ("update_note", {"entity_key": first, "note": "a", "content": self._text()}),
            ("delete_note", {**ends, "note": "a"}),
            ("delete_relationship", ends),
            ("restore_relationship", ends),
            ("delete_node", {"entity_key": first, "delete_relationships": True}),
            ("restore_node", {"entity_key": first, "skip_missing": True}),
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
        tool, arguments = self._scrap_call() if self._random.random() < 0.7 else self._read_call() or ("explore", {})
        mutated = copy.deepcopy(arguments)
        for _ in range(self._random.randint(1, 2)):
            self._mutate_one(mutated)
        await self._call(tool, mutated, "mutated")

    def _mutate_one(self, arguments: Arguments) -> None:
        """Change one value, at any depth: remove it, add one, replace it, or put another user's key in its place."""
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
