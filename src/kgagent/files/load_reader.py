"""Reads files to load: first a check of all lines, then the writes that the valid ones request."""

import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from kgagent.errors import InputError
from kgagent.files.batch_writing import LineItem
from kgagent.files.json_lines import FileLine, parse_line
from kgagent.files.line_source import LineSource
from kgagent.files.load_lines import LINES, NodeLine, NoteLine, RelationshipLine
from kgagent.files.reports import LineProblem
from kgagent.graph.nodes import NodeIntent
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models import Note
from kgagent.names import compatible_name

_NAMESPACE = uuid.UUID("6f0d4f3c-7f0b-4b8e-9d1e-2f5a1c7f3b60")


LineKind = Literal["nodes", "relationships"]


@dataclass(frozen=True, kw_only=True)
class LoadedNodeIntent(NodeIntent):
    """A node of a file.

    Attributes:
        id: the id from which the key was derived; None if the line gives the key, or has no `id`.
    """

    id: str | None = None


class LoadReader:
    """Reads files to load. Their lines are never held in memory, only the `id`s and the problems.

    Attributes:
        source: the lines.
        problems: what is wrong, by line number.
        remarks: what is left out of lines that are loaded, likewise.
        counts: number of valid lines with nodes and with relationships.
    """

    def __init__(self, source: LineSource, *, now: datetime) -> None:
        """Read lines.

        Args:
            source: the lines, and the graph that they are for.
            now: time of the load, with time zone.
        """
        self.source = source
        self.problems: dict[int, LineProblem] = {}
        self.remarks: dict[int, LineProblem] = {}
        self.counts = Counter[LineKind]()
        self._user_id = source.target.user_id
        self._ontology = source.target.ontology
        self._now = now
        self._owners = dict(source.target.owners)
        self._keys: dict[str, str] = {}
        self._lines_of_ids: dict[str, FileLine] = {}

    def check(self) -> None:
        """Check all lines without writing anything.

        Raises:
            InputError: a file cannot be read, or no line is valid.
        """
        for line in self.source:
            try:
                self._check_line(line)
            except InputError as error:
                self._add_problem(line, error)
        if self.problems and not self.counts:
            raise InputError(
                f"{self.source.name} has no line that can be loaded; "
                f"{next(iter(self.problems.values()))}. "
                f"docs/load-format.md "
                "describes the lines; `kgagent import` reads what `kgagent export` wrote"
            )

    def _add_problem(self, line: FileLine, error: InputError) -> None:
        self.problems[line.number] = LineProblem(
            line=line.number, place=line.place, reason=str(error)
        )

    def intents(self, kind: LineKind) -> Iterator[LineItem[Any]]:
        """The writes of the valid lines of a kind, nodes before relationships; other problems
        become problems of their lines.
        """
        if kind == "relationships":
            # A line with a problem must not connect a relationship to another node that has the
            # same key.
            for name, line in self._lines_of_ids.items():
                if line.number in self.problems:
                    self._keys.pop(name, None)
        for line in self.source:
            if line.number in self.problems:
                continue
            parsed = parse_line(line, LINES, {})
            if isinstance(parsed, NodeLine) is (kind == "nodes"):
                try:
                    intent = self._intent(parsed, line)
                except InputError as error:
                    self._add_problem(line, error)
                else:
                    yield LineItem(line.number, len(line.content), intent, line.place)

    def _check_line(self, line: FileLine) -> None:
        dropped: dict[str, None] = {}
        parsed = parse_line(line, LINES, dropped)
        if dropped:
            self.remarks[line.number] = LineProblem(
                line=line.number, place=line.place, reason="; ".join(dropped)
            )
        if isinstance(parsed, RelationshipLine):
            self.counts["relationships"] += 1
            return
        if parsed.source_text is not None and parsed.label != self._ontology.source_label:
            raise InputError(f"source_text is the text of a source, got label {parsed.label}")
        key = self._entity_key(parsed, line)
        if parsed.id is not None:
            name = compatible_name(parsed.id)
            if first := self._lines_of_ids.get(name):
                where = first.place or f"line {first.number}"
                raise InputError(f"id {parsed.id!r} is already used on {where}")
            self._lines_of_ids[name] = replace(line, content=b"")
            self._keys[name] = key
        if parsed.label == self._ontology.owner_label and parsed.properties.get("is_owner") is True:
            for other, name in self._owners.items():
                if other != key:
                    raise InputError(
                        f"{name} ({other}) is already the owner of this graph; give its "
                        f"entity_key, or omit is_owner"
                    )
            self._owners.setdefault(key, f"the node of line {line.number}")
        self.counts["nodes"] += 1

    def _entity_key(self, node: NodeLine, line: FileLine) -> str:
        """The key that a line specifies, or one that is the same at every load.

        A label with a deterministic rule has the key of the rule, as the tools derive it, unless
        the rule needs a `created_at` that the line lacks. Otherwise the key is a UUID of the user
        and the line's `id` or, without `id`, of the user and the whole line.
        """
        rule = self._ontology.label(node.label)
        if node.entity_key is not None:
            return node.entity_key
        if rule.is_deterministic and (node.created_at or not rule.key_includes_time):
            return rule.entity_key(
                name=compatible_name(node.name),
                description=node.description or "",
                user_id=self._user_id,
                created_at=node.created_at.isoformat() if node.created_at else "",
            )
        text = line.content.decode().strip()
        identity = f"line\n{text}" if node.id is None else f"id\n{compatible_name(node.id)}"
        return str(uuid.uuid5(_NAMESPACE, f"{self._user_id}\n{identity}"))

    def _intent(
        self, parsed: NodeLine | RelationshipLine, line: FileLine
    ) -> LoadedNodeIntent | RelationshipIntent:
        """Create the record of a line, or update it with the values of the line."""
        notes = self._notes(parsed.notes)
        if isinstance(parsed, NodeLine):
            fields = {"name", "description", "created_at", "source_text", "said_on"}
            return LoadedNodeIntent(
                entity_key=self._entity_key(parsed, line),
                label=parsed.label,
                mode="either",
                values=parsed.model_dump(include=fields, exclude_none=True) | parsed.properties,
                notes=notes,
                aliases=tuple(parsed.aliases),
                id=parsed.id if parsed.entity_key is None else None,
            )
        fields = {"relationship_type", "description", "attitude", "proximity", "when"}
        return RelationshipIntent(
            from_entity_key=self._key(parsed.from_),
            to_entity_key=self._key(parsed.to),
            neo4j_type=parsed.neo4j_type,
            mode="either",
            adds_type=True,
            values=parsed.model_dump(include=fields, exclude_none=True) | parsed.properties,
            notes=notes,
        )

    def _notes(self, notes: Sequence[NoteLine | str]) -> tuple[Note, ...]:
        lines = (NoteLine(content=note) if isinstance(note, str) else note for note in notes)
        return tuple(
            Note(
                content=note.content,
                when=note.when,
                said_on=note.said_on,
                added_by=note.added_by or self._user_id,
                date_added=note.date_added or self._now,
                source_entity_key=note.source_entity_key and self._key(note.source_entity_key),
                quote=note.quote,
                expires_at=self._expiry(note),
            )
            for note in lines
        )

    def _expiry(self, note: NoteLine) -> datetime | None:
        if note.lifetime is None:
            return note.expires_at
        try:
            return self._ontology.note_expiry(note.lifetime, note.date_added or self._now)
        except OverflowError:
            raise InputError(
                f"date_added is too late to compute an expiry, got {note.date_added}"
            ) from None

    def _key(self, reference: str) -> str:
        return self._keys.get(compatible_name(reference), reference)
