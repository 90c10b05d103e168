"""Lines to load from JSON of the MCP memory server, of mem0 and of graphiti, as JSON Lines or as
one document.
"""

import json
import uuid
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from kgagent.errors import InputError
from kgagent.files.conversion import (
    Converted,
    Fields,
    Target,
    filled,
    node_line,
    relationship_line,
    spaced,
    texts,
    type_words,
)
from kgagent.files.json_lines import FileLine, read_lines
from kgagent.files.load_lines import NoteLine, Properties
from kgagent.formatting import beginning, listed
from kgagent.names import shorten_name
from kgagent.validation import explain_validation_error, validate

Item = tuple[str, Any]
"""The place of an item in its file, and the item."""

MAX_SHOWN = 80
"""Characters of an item that an error repeats."""

GRAPHITI_LABEL = "Entity"
"""Label that all entities of graphiti have, beside their own."""

_KNOWN = (
    *({"entityType"}, {"relationType"}),
    *({"memory"}, {"source", "relationship"}),
    *({"source_node_uuid"}, {"uuid", "labels"}, {"uuid", "summary"}),
)
"""Fields by which the items of the memory server, of mem0 and of graphiti are recognized."""

_PROPERTIES = TypeAdapter(Properties)

_NAMESPACE = uuid.UUID("4f7f6f0e-7a39-4c55-9a5c-2d1f0f6f3c0b")


def convert_json(path: Path, first: FileLine, target: Target) -> Iterator[Converted] | None:
    """The converted lines of a file; None if its first item is not of one of the other programs.

    Args:
        path: the file.
        first: its first line.
        target: what the lines are for.
    """
    probe = next(_items(path, first), None)
    if probe is None or not (
        isinstance(probe[1], Mapping) and any(fields <= probe[1].keys() for fields in _KNOWN)
    ):
        return None
    return _Conversion(target).converted(_items(path, first))


def _items(path: Path, first: FileLine) -> Iterator[Item]:
    """The items of JSON Lines, or of one document; none if the file is not JSON."""
    try:
        from_json(first.content)
    except ValueError:
        try:
            document = from_json(path.read_bytes().removeprefix(BOM_UTF8))
        except ValueError:
            return
        yield from _items_of("", document)
    else:
        for line in read_lines(path):
            place = f"line {line.number}"
            try:
                yield from _items_of(place, from_json(line.content))
            except ValueError:
                yield place, InputError("not JSON")


def _items_of(place: str, value: object) -> Iterator[Item]:
    """The items of a list, or of the lists of an object; anything else is an item itself."""
    lists = {"": value} if isinstance(value, list) else {}
    if isinstance(value, Mapping) and not any(fields <= value.keys() for fields in _KNOWN):
        lists = {
            f" {name}".rstrip(): items for name, items in value.items() if isinstance(items, list)
        }
    if not lists:
        yield place, value
    for name, items in lists.items():
        for number, item in enumerate(items):
            yield f"{place}{name}[{number}]".strip(), item


class _Conversion:
    """Converts the items of one file."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._named: set[str] = set()
        self._user: str | None = None
        self._memories: list[Fields] = []

    def converted(self, items: Iterator[Item]) -> Iterator[Converted]:
        """The lines of the items, and at the end those of the owner's notes."""
        for place, item in items:
            if isinstance(item, Mapping):
                yield from _with_error(place, self._lines(item))
            elif isinstance(item, InputError):
                yield place, item
            else:
                yield place, InputError(f"not an object: {_shown(item)}")
        if self._memories:
            yield from _with_error("the memories", self._owner_lines())

    def _lines(self, item: Mapping[str, Any]) -> Iterator[Fields | InputError]:
        match item:
            case {"entityType": str(kind), "name": str(name)}:
                observations = item.get("observations")
                notes, surplus = self._limited(texts(observations))
                yield node_line(self._target, name, spaced(name), [kind], notes=notes)
                yield from surplus
                given = observations if isinstance(observations, list) else []
                yield from (
                    InputError(f"an observation is not text: {_shown(one)}")
                    for one in given
                    if not isinstance(one, str)
                )
            case {"relationType": kind}:
                yield relationship_line(item.get("from"), item.get("to"), type_words(kind))
            case {"memory": str(text)} if text.strip():
                conversation, unread = _turns(item.get("messages"))
                key = str(uuid.uuid5(_NAMESPACE, conversation))
                self._add_memory(item, text, self._episode_key(key) if conversation else None)
                if conversation and key not in self._named:
                    self._named.add(key)
                    yield self._source(key, "Messages", conversation, item.get("created_at"))
                yield from unread
            case {"source": str(source), "relationship": kind}:
                ends = (source, str(item.get("target", item.get("destination", ""))))
                yield from self._mentioned(ends)
                start, end = (self._owner_key if end == self._user else end for end in ends)
                yield relationship_line(start, end, type_words(kind))
            case {"source_node_uuid": start, "name": name}:
                times = {"when": _period(item), "date_added": item.get("created_at")}
                sources = map(self._episode_key, texts(item.get("episodes")))
                told = {"source_entity_key": next(sources, None)}
                fact = filled({"content": item.get("fact"), **times, **told})
                facts = [fact] if "content" in fact else []
                yield relationship_line(
                    start, item.get("target_node_uuid"), type_words(name), notes=facts
                )
            case {"uuid": str(key), "name": name} if "content" not in item:
                types = sorted(texts(item.get("labels")), key=lambda label: label == GRAPHITI_LABEL)
                properties, problems = _attributes(item.get("attributes"))
                yield node_line(
                    self._target,
                    key,
                    name,
                    types,
                    description=item.get("summary"),
                    properties=properties,
                )
                yield from problems
            case {"uuid": str(key), "name": name, "content": text}:
                about = item.get("source_description")
                yield self._source(key, name, text, item.get("valid_at"), about)
            case _:
                fields = listed(sorted(map(shorten_name, item)))
                raise InputError(f"not understood: an object with {fields}")

    def _source(
        self, key: str, name: object, text: object, said_on: object, description: object = None
    ) -> Fields:
        """A source with its text."""
        return node_line(
            self._target,
            key,
            name,
            texts(self._target.ontology.source_label),
            entity_key=self._episode_key(key),
            description=description,
            source_text=text,
            said_on=str(said_on or "")[:10],
        )

    def _add_memory(self, item: Mapping[str, Any], text: str, source: str | None) -> None:
        """Keep a memory of mem0, which is a statement about its user, as a note of the graph's
        owner.
        """
        user = item.get("user_id") or self._user
        self._user = self._user or user
        if user != self._user:
            raise InputError(
                f"a memory of {user}, but the file begins with those of {self._user}; give each a "
                f"file"
            )
        note = filled(
            {"content": text, "date_added": item.get("created_at"), "source_entity_key": source}
        )
        validate(NoteLine, note)
        self._memories.append(note)

    def _limited(self, notes: list[Any]) -> tuple[list[Any], list[InputError]]:
        """As many notes as a node may have, and that there are more."""
        most = self._target.max_notes
        if len(notes) <= most:
            return notes, []
        problem = (
            f"only the first {most:,} of {len(notes):,} notes are loaded; raise KGAGENT_MAX_NOTES"
        )
        return notes[:most], [InputError(problem)]

    def _episode_key(self, key: str) -> str:
        """The key of the source of an episode, which facts of other files cite too."""
        return str(uuid.uuid5(_NAMESPACE, f"{self._target.user_id}\n{key}"))

    @property
    def _owner_key(self) -> str:
        """The key of the owner; of a new one, the same at every load."""
        return (
            self._target.owner[0]
            if self._target.owner
            else str(uuid.uuid5(_NAMESPACE, self._target.user_id))
        )

    def _owner_lines(self) -> Iterator[Fields | InputError]:
        notes, surplus = self._limited(self._memories)
        yield self._owner(notes)
        yield from surplus

    def _owner(self, notes: list[Fields] | None = None) -> Fields:
        label, stored = self._target.ontology.owner_label, self._target.owner
        if label is None:
            raise InputError("memories are about the owner, but the ontology has no owner_label")
        name = stored[1] if stored else self._user or self._target.user_id
        more = {"notes": notes} if notes else {}
        owner = {} if stored else {"properties": {"is_owner": True}}
        return {
            "kind": "node",
            "label": label,
            "entity_key": self._owner_key,
            "name": name,
            **more,
            **owner,
        }

    def _mentioned(self, names: tuple[str, ...]) -> Iterator[Fields]:
        """Nodes of which mem0 gives only the name, unless the file has mentioned them before."""
        for name in names:
            if name not in self._named:
                yield (
                    self._owner()
                    if name == self._user
                    else node_line(self._target, name, spaced(name), [])
                )
                self._named.add(name)


def _with_error(place: str, lines: Iterator[Fields | InputError]) -> Iterator[Converted]:
    try:
        for fields in lines:
            yield place, fields
    except InputError as error:
        yield place, error


def _turns(messages: object) -> tuple[str, list[InputError]]:
    """The messages that a memory of mem0 is from, as a conversation, and those that are no text."""
    turns, problems = [], []
    for message in messages if isinstance(messages, list) else []:
        match message:
            case {"role": str(role), "content": str(text)}:
                turns.append(f"{role}: {text}")
            case _:
                problems.append(InputError(f"a message is not text: {_shown(message)}"))
    return "\n\n".join(turns), problems


def _period(item: Mapping[str, Any]) -> str | None:
    """When a fact of graphiti was true, in EDTF."""
    start, end = (str(item.get(name) or "")[:10] for name in ("valid_at", "invalid_at"))
    return f"{start or '..'}/{end or '..'}" if start or end else None


def _attributes(attributes: object) -> tuple[dict[str, object], list[InputError]]:
    """Attributes as properties, and why others are none; lists and objects become their JSON."""
    properties: dict[str, object] = {}
    problems = []
    for name, value in (attributes if isinstance(attributes, Mapping) else {}).items():
        text = json.dumps(value) if isinstance(value, list | dict) else value
        try:
            properties |= _PROPERTIES.validate_python({name: text})
        except ValidationError as error:
            reason = explain_validation_error(error, noun="attribute")
            problems.append(InputError(f"the attribute {name!r} is not loaded: {reason}"))
    return properties, problems


def _shown(value: object) -> str:
    return beginning(json.dumps(value), MAX_SHOWN)
