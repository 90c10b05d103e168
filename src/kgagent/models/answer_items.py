"""The items of an answer: nodes and relationships, each as a line for a model and as a record for programs."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any

from kgagent.formatting import in_one_line
from kgagent.models.graph import GraphNode, GraphRelationship
from kgagent.models.history import HistoryEntry
from kgagent.models.note import MatchedNote, Note, oldest_first
from kgagent.models.statement_matcher import Statement, StatementMatcher
from kgagent.models.token_budget import cut, estimated_tokens, fits
from kgagent.models.when import is_past
from kgagent.ontology.model import as_words

JsonRecord = dict[str, Any]
"""JSON types."""

MAX_NAME_LENGTH = 80
"""Characters of a name in a line."""

FEW_NOTES, NEWEST_NOTES = 3, 2
"""Up to how many notes of an item are all shown, and how many of more notes, in an answer without a query."""

MATCHING_NOTES = 3
"""Maximum number of notes of an item that are shown in an answer to a query."""

MIN_NOTE_TOKENS = 12
"""Tokens of the shortest part of a note that is worth showing."""

_BOOKKEEPING = frozenset({"created_at", "updated_at", "access_count", "state"})


@dataclass
class RenderState:
    """What decides how items are rendered, and what the answer has said already.

    Attributes:
        now: notes that have expired by then are omitted.
        matcher: compares statements with the queries.
        short_keys: what to print for each entity_key; None prints no keys.
        labels: labels of nodes by entity_key, as far as known.
        defaults: values of properties that say nothing.
        with_properties: whether properties beyond the usual fields are shown.
        own: labels and Neo4j types of kgagent's records, whose bookkeeping is not shown; None: all of them.
        node_hint: how to see the omitted notes of a node; empty if there is no way.
        relationship_hint: likewise for a relationship.
        budget_hint: how to see the rest of a text that was cut, of an item that may have what is left of the budget.
        mentioned: entity_keys of the nodes that a line has named.
        bearers: the entity_keys among them that have a name.
        described: entity_keys of the nodes whose record the answer has.
        stated: the relationships that lines have stated, as short sentences.
        hinted: the hints that lines contain, each with whether the line may yet be shown in full.
    """

    now: datetime
    matcher: StatementMatcher = field(default_factory=StatementMatcher)
    short_keys: Mapping[str, str] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    with_properties: bool = True
    own: Container[str] | None = None
    node_hint: str = ""
    relationship_hint: str = ""
    budget_hint: str = ""
    mentioned: set[str] = field(default_factory=set)
    bearers: dict[str, set[str]] = field(default_factory=dict)
    described: set[str] = field(default_factory=set)
    stated: set[str] = field(default_factory=set)
    hinted: set[tuple[str, bool]] = field(default_factory=set)

    def name(self, entity_key: str, name: str, label: str = "") -> str:
        """The name of a node: with label and short key where it is named first, and with the key beside a namesake."""
        shown = in_one_line(name) or in_one_line(entity_key)
        if len(shown) > MAX_NAME_LENGTH:
            shown = f"{shown[:MAX_NAME_LENGTH]}…"
        bearers = self.bearers.setdefault(shown.casefold(), set())
        bearers.add(entity_key)
        short = "" if self.short_keys is None else self.short_keys.get(entity_key, entity_key)
        if entity_key in self.mentioned:
            return f"{shown} ({in_one_line(short)})" if short and len(bearers) > 1 else shown
        self.mentioned.add(entity_key)
        details = " ".join(filter(None, (label or self.labels.get(entity_key, ""), short)))
        return f"{shown} ({in_one_line(details)})" if details else shown

    def properties(self, item: GraphNode | GraphRelationship) -> JsonRecord:
        """The properties that say something, and are not also the name or the description."""
        if not self.with_properties:
            return {}
        kind = item.label if isinstance(item, GraphNode) else item.neo4j_type
        said = (item.name, item.description) if isinstance(item, GraphNode) else (item.description,)
        hidden, defaults = (_BOOKKEEPING, self.defaults) if self.own is None or kind in self.own else ((), {})
        return {
            name: value
            for name, value in item.properties.items()
            if name not in hidden and value not in (None, "", [], {}, *said) and defaults.get(name) != value
        }

    def line(self, head: str, item: GraphNode | GraphRelationship, hint: str, *, in_full: bool = False) -> "Line":
        """The line of an item.

        Args:
            head: what the line begins with.
            item: what is described.
            hint: how to see notes that are omitted.
            in_full: whether its other notes are shown too where the budget of the answer allows.
        """
        description, shown, others = self.statements(item)
        if isinstance(item, GraphRelationship) and self._is_shown(item):
            description = ""
        if others and (hint, in_full) in self.hinted:
            hint = ""
        elif others:
            self.hinted.add((hint, in_full))
        texts = [self.note_text(note) for note in shown]
        line = Line(head, in_one_line(description), texts, len(others), hint)
        return replace(line, cut_hint=self.budget_hint, rest=lambda: map(self.note_text, others)) if in_full else line

    def _is_shown(self, relationship: GraphRelationship) -> bool:
        """Whether the description is the triplet in words with properties, as of an adopted relationship."""
        rest = relationship.description.removeprefix(relationship.triplet)
        for name, value in self.properties(relationship).items() if rest != relationship.description else ():
            rest = rest.replace(f"; {as_words(name)}: {_value_text(value)}", "")
        return not rest

    def statements(self, item: GraphNode | GraphRelationship) -> tuple[str, list[Note], list[Note]]:
        """The description to show, if any, the notes to show, the best first, and the other current notes.

        Of an answer to a query, the notes that match about as well as the best statement of the answer. The description
        is omitted if a note matches better than the item as a whole.
        """
        current = [note for note in item.notes if note.is_current(self.now)]
        newest = oldest_first(reversed(current))[::-1]
        if self.matcher.enough is None:
            count = len(newest) if len(newest) <= FEW_NOTES else NEWEST_NOTES
            return item.description, newest[:count], newest[count:]
        matches = [(self.matcher.match(*statement_of(note)), note) for note in newest]
        matches.sort(key=lambda one: -one[0])
        ranked = [note for _, note in matches]
        count = min(MATCHING_NOTES, sum(match >= self.matcher.enough for match, _ in matches))
        described = self.matcher.match(item.description, item.similarity) if item.description else -1.0
        is_note_best = bool(ranked) and matches[0][0] > described
        if is_note_best:
            count = max(count, 1)
        is_said = not is_note_best or item.similarity is None or described >= self.matcher.enough
        return item.description if is_said else "", ranked[:count], ranked[count:]

    def source_details(self, entity_key: str | None) -> list[str]:
        """The source of a statement, if it has one and keys are shown."""
        if not entity_key or self.short_keys is None:
            return []
        return [f"source {self.short_keys.get(entity_key, entity_key)}"]

    def note_text(self, note: Note) -> str:
        """A note with its time, source and expiry as far as it has them."""
        details = [note.when] if note.when else []
        if note.said_on:
            details.append(f"said {note.said_on}")
        details += self.source_details(note.source_entity_key)
        if note.expires_at:
            details.append(f"until {note.expires_at:%Y-%m-%d}")
        return in_one_line(note.content) + (f" ({', '.join(details)})" if details else "")


@dataclass(frozen=True)
class Line:
    """A line in parts, which can be shortened.

    Attributes:
        head: what is described; never omitted.
        description: its text.
        notes: notes, best first.
        others: number of further notes.
        hint: how to see the further notes.
        cut_hint: how to see the rest of a text that was cut.
        rest: returns the further notes if the line may have what is left of the budget, see `fitted`; otherwise None.
    """

    head: str
    description: str = ""
    notes: Sequence[str] = ()
    others: int = 0
    hint: str = ""
    cut_hint: str = ""
    rest: Callable[[], Iterable[str]] | None = None

    def text(self, notes: int | None = None, description: str | None = None) -> str:
        """The line with so many of its notes."""
        shown = list(self.notes[:notes])
        others = self.others + len(self.notes) - len(shown)
        described = self.description if description is None else description
        line = f"{self.head}: {described}" if described else self.head
        if others:
            counted = f"+{others:,} {'note' if others == 1 else 'notes'}"
            shown.append(f"{counted}: {self.hint}" if self.hint else counted)
        if shown:
            line += f"{'' if line.endswith(('.', '!', '?', ':')) else '.'} Notes: {' | '.join(shown)}"
        return line

    def fitted(self, room: int, *, in_full: bool = False) -> str:
        """The line within some tokens: with fewer notes, then with less of the description; empty if it cannot be.

        Args:
            room: maximum number of tokens.
            in_full: whether its further notes follow as far as they fit; the last one may be cut.
        """
        text, described = self.text(), self.description
        if fits(text, room):
            if not in_full or not self.others:
                return text
        elif self.notes:
            of_notes = sum(estimated_tokens(note) if fits(note, room) else room for note in self.notes)
            described = cut(described, max(room // 2, room - 2 * of_notes), self.cut_hint)
        bare = self.text(0, described)
        if not fits(bare, room):
            left = room - estimated_tokens(self.text(0, "")) - 2
            shortened = cut(self.description, left, self.cut_hint) if left > 0 else ""
            line = self.text(0, shortened) if shortened or not self.description else ""
            return line if estimated_tokens(line) <= room else ""
        left, shown = room - estimated_tokens(bare), list[str]()
        for note in chain(self.notes, self.rest() if in_full and self.rest is not None else ()):
            if fits(f" | {note}", left):
                left -= estimated_tokens(f" | {note}")
                shown.append(note)
                continue
            if in_full and left >= MIN_NOTE_TOKENS and (start := cut(note, left - 1, self.cut_hint)):
                shown.append(start)
            break
        others = self.others + len(self.notes) - len(shown)
        noted = replace(self, description=described, notes=shown, others=others)
        texts = (noted.text(notes) for notes in range(len(shown), 0, -1))
        return next((text for text in texts if fits(text, room)), bare)


class Item(ABC):
    """One item of an answer."""

    @abstractmethod
    def entity_keys(self) -> Iterator[str]:
        """The entity_keys that its lines can contain."""

    def statements(self) -> Iterator[Statement]:
        """Its description and notes, each with its similarity with the query as far as known."""
        return iter(())

    @abstractmethod
    def lines(self, state: RenderState) -> list[Line]:
        """The item for a model."""

    @abstractmethod
    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:
        """The item for programs: records with the field of the answer to which each belongs."""


@dataclass(frozen=True)
class PlainItem(Item):
    """A record, and perhaps a line, that need no rendering."""

    line: Line | None
    section: str
    record: JsonRecord | str

    def entity_keys(self) -> Iterator[str]:
        """None."""
        return iter(())

    def lines(self, state: RenderState) -> list[Line]:  # noqa: ARG002
        """The line."""
        return [] if self.line is None else [self.line]

    def records(self, state: RenderState) -> list[tuple[str, Any]]:  # noqa: ARG002
        """The record."""
        return [(self.section, self.record)]


@dataclass(frozen=True)
class NodeItem(Item):
    """A node.

    Attributes:
        node: the node.
        section: field of the answer.
        more: further fields of its record.
        remark: what to add to the line.
        score: what the answer sorts it by; None outside a search.
        is_named: whether a relationship of the answer names it; then it has a line only if that says more.
        is_only_named: whether it was found only as an end of such a relationship; then it has no line.
        in_full: whether all its notes are shown if the budget allows.
    """

    node: GraphNode
    section: str
    more: Mapping[str, Any] = field(default_factory=dict)
    remark: str = ""
    score: float | None = None
    is_named: bool = False
    is_only_named: bool = False
    in_full: bool = False

    def entity_keys(self) -> Iterator[str]:
        """The node, and the sources of its notes."""
        yield self.node.entity_key
        yield from _sources(self.node.notes)

    def statements(self) -> Iterator[Statement]:
        """The node's description and notes."""
        return statements_of(self.node)

    def lines(self, state: RenderState) -> list[Line]:
        """The node with what is known of it."""
        node = self.node
        properties = state.properties(node)
        if self.is_only_named or (self.is_named and not properties and not any(state.statements(node)[:2])):
            return []
        head = state.name(node.entity_key, node.name, node.label) + _properties_text(properties)
        head += f" (first noted {node.first_noted})" if node.first_noted else ""
        head += _score_text(self.score)
        return [state.line(head + self.remark, node, state.node_hint, in_full=self.in_full)]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:
        """The node's record."""
        return [(self.section, item_record(self.node, state) | dict(self.more))]


@dataclass(frozen=True)
class RelationshipItem(Item):
    """A relationship.

    Attributes:
        relationship: the relationship.
        section: field of the answer.
        more: further fields of its record.
        score: what the answer sorts it by; None outside a search.
        path: the relationships that led to it, as short sentences.
        in_full: whether all its notes are shown if the budget allows.
    """

    relationship: GraphRelationship
    section: str
    more: Mapping[str, Any] = field(default_factory=dict)
    score: float | None = None
    path: Sequence[str] = ()
    in_full: bool = False

    def entity_keys(self) -> Iterator[str]:
        """Both ends, and the sources of its notes."""
        yield self.relationship.from_entity_key
        yield self.relationship.to_entity_key
        yield from _sources(self.relationship.notes)

    def statements(self) -> Iterator[Statement]:
        """The relationship's description and notes."""
        return statements_of(self.relationship)

    def lines(self, state: RenderState) -> list[Line]:
        """The relationship in its direction, with what is known of it."""
        relationship = self.relationship
        head = relationship_text(relationship, state) + _score_text(self.score)
        if led := [triplet for triplet in self.path if triplet not in state.stated]:
            head += f" via {in_one_line('; '.join(led))}"
        state.stated.add(relationship.triplet)
        return [state.line(head, relationship, state.relationship_hint, in_full=self.in_full)]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:
        """The relationship's record."""
        return [(self.section, item_record(self.relationship, state) | dict(self.more))]


@dataclass(frozen=True)
class NoteItem(Item):
    """A note with a line of its own."""

    note: Note

    def entity_keys(self) -> Iterator[str]:
        """The source."""
        if self.note.source_entity_key:
            yield self.note.source_entity_key

    def lines(self, state: RenderState) -> list[Line]:
        """The note with its date."""
        return [Line("- Note", state.note_text(self.note), cut_hint=state.budget_hint, rest=tuple)]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:  # noqa: ARG002
        """The note."""
        return [("notes", self.note.model_dump(mode="json", exclude_none=True, exclude={"added_by"}))]


@dataclass(frozen=True)
class HistoryItem(Item):
    """An earlier value of a record, with a line of its own.

    Attributes:
        entry: the value, and how long it was stored.
        word: its word, if it is a level.
    """

    entry: HistoryEntry
    word: str = ""

    def entity_keys(self) -> Iterator[str]:
        """The source of what replaced it."""
        if self.entry.source_entity_key:
            yield self.entry.source_entity_key

    def lines(self, state: RenderState) -> list[Line]:
        """The value and until when it was stored: `- Former description (until 2026-01-31): …`."""
        entry = self.entry
        until = entry.ended or (f"{entry.until:%Y-%m-%d}" if entry.until else "")
        details = [f"until {until}"] if until else []
        details += state.source_details(entry.source_entity_key)
        kind = "Wrong" if entry.corrected else "Former"
        head = f"- {kind} {in_one_line(entry.field)}" + (f" ({', '.join(details)})" if details else "")
        return [Line(head, in_one_line(self.word or str(entry.value)), cut_hint=state.budget_hint, rest=tuple)]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:  # noqa: ARG002
        """The entry."""
        return [("history", self.entry.model_dump(mode="json", exclude_defaults=True))]


def matcher_of(words: Collection[str], items: Iterable[Item]) -> StatementMatcher:
    """What compares the statements of items with a query.

    Args:
        words: its words, see `query_words`.
        items: the items of an answer.
    """
    return StatementMatcher.of(words, (statement for item in items for statement in item.statements()))


def statements_of(item: GraphNode | GraphRelationship) -> Iterator[Statement]:
    """The description of an item and its notes, each with its similarity with the query as far as known."""
    if item.description:
        yield item.description, item.similarity
    yield from map(statement_of, item.notes)


def statement_of(note: Note) -> Statement:
    """A note with its similarity with the query as far as known."""
    return note.content, note.similarity if isinstance(note, MatchedNote) else None


def relationship_text(relationship: GraphRelationship, state: RenderState) -> str:
    """A relationship in its direction: `Me (Person 9fe1aa02) -[mentor]-> Ruth (Person 5b0c12ab) (warm, close)`."""
    ends = [
        (relationship.from_entity_key, relationship.from_name),
        (relationship.to_entity_key, relationship.to_name),
    ]
    source, target = (state.name(*end) for end in (reversed(ends) if relationship.ends_reversed else ends))
    levels = [
        word or (f"{name} {level}" if level is not None else "")
        for name, word, level in (
            ("attitude", relationship.attitude_word, relationship.attitude),
            ("proximity", relationship.proximity_word, relationship.proximity),
        )
    ]
    past = "past" if is_past(relationship.when, state.now) else ""
    noted = f"first noted {relationship.first_noted}" if relationship.first_noted and not relationship.when else ""
    details = ", ".join(filter(None, (*levels, relationship.when, past, noted)))
    properties = _properties_text(state.properties(relationship))
    return f"{source} -[{kind_text(relationship)}]-> {target}" + (f" ({details})" if details else "") + properties


def kind_text(relationship: GraphRelationship) -> str:
    """The free type of a relationship, or else its Neo4j type."""
    return in_one_line(relationship.relationship_type) or in_one_line(relationship.neo4j_type)


def item_record(item: GraphNode | GraphRelationship, state: RenderState) -> JsonRecord:
    """A node or relationship as JSON types, without bookkeeping; with the same notes as its line."""
    description, notes, others = state.statements(item)
    shown = {"description": description, "notes": tuple(notes), "properties": state.properties(item)}
    record = item.model_copy(update=shown).to_dict()
    for note in record.get("notes", ()):
        note.pop("added_by", None)
    rounded = {name: round(value, 4) for name, value in record.items() if isinstance(value, float)}
    return record | rounded | ({"omitted_notes": len(others)} if others else {})


def _properties_text(properties: JsonRecord) -> str:
    if not properties:
        return ""
    values = (name if value is True else f"{name}: {_value_text(value)}" for name, value in properties.items())
    return f" [{in_one_line('; '.join(values))}]"


def _score_text(score: float | None) -> str:
    return "" if score is None else f" {score:.2f}"


def _value_text(value: object) -> str:
    texts = value if isinstance(value, list) else [value]
    return ", ".join(map(str, texts))


def _sources(notes: Sequence[Note]) -> Iterator[str]:
    return (note.source_entity_key for note in notes if note.source_entity_key)
