"""The items of an answer: nodes and relationships, each as a line for a model and as a record for
programs.
"""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from kgagent.answers.passage_text import quoted
from kgagent.answers.safe_text import safe_name, safe_section, safe_text
from kgagent.answers.token_budget import cut, estimated_tokens, fits
from kgagent.answers.trust_mark import UNKNOWN_SOURCE, trust_mark
from kgagent.formatting import beginning
from kgagent.models.graph import FoundStatement, GraphNode, GraphRelationship
from kgagent.models.history import FormerDescription, HistoryEntry, Stated
from kgagent.models.note import Note, oldest_first
from kgagent.models.passage import Passage, in_section
from kgagent.models.when import day_of_question, is_past, period_of, time_text, with_time
from kgagent.names import plain_words
from kgagent.ontology.model import as_words
from kgagent.trust import UNKNOWN

JsonRecord = dict[str, Any]
"""JSON types."""

MAX_NAME_LENGTH = 80
"""Characters of a name in a line."""

FEW_NOTES, NEWEST_NOTES = 3, 2
"""Up to how many notes of an item are all shown, and how many of more notes, in an answer without a
query.
"""

MATCHING_NOTES = 3
"""Maximum number of notes of a record that a search shows where its statements have no lines of
their own.
"""

MIN_NOTE_TOKENS = 12
"""Tokens of the shortest part of a note that is worth showing."""

_BOOKKEEPING = frozenset({"content_hash", "created_at", "updated_at", "access_count", "state"})


class Cited(NamedTuple):
    """A passage that a note quotes, with the name of its source."""

    source: str
    passage: Passage


class Shown(NamedTuple):
    """What is shown of an item.

    Attributes:
        description: its description, if that is shown.
        notes: the notes that are shown.
        others: the notes that are not.
        statement: the statement, if it is one that a search scored.
        cited: the passage that its note quotes, if its line stands for that too.
    """

    description: str
    notes: Sequence[Note]
    others: Sequence[Note] = ()
    statement: FoundStatement | None = None
    cited: Cited | None = None


@dataclass
class RenderState:
    """What decides how items are rendered, and what the answer has said already.

    Attributes:
        now: notes that have expired by then are omitted.
        asked: words that were asked for, in lower case; notes that have them are shown if no search
            scored them.
        keys: what to print beside the names of nodes that share their name with another, by
            entity_key.
        labels: labels of nodes by entity_key, as far as known.
        sources: names of the sources of notes by entity_key; None shows neither sources nor when
            notes were said.
        defaults: values of properties that say nothing.
        with_properties: whether properties beyond the usual fields are shown.
        as_of: the time asked for, in EDTF; None: today. Relationships that had ended by then are
            marked.
        conflicts: what relationships conflict with, by their identities.
        own: labels and Neo4j types of kgagent's records, whose bookkeeping is not shown; None: all
            of them.
        node_hint: how to see the omitted notes of a node; empty if there is no way.
        relationship_hint: likewise for a relationship.
        budget_hint: how to see the rest of a text that was cut, of an item that may have what is
            left of the budget.
        mentioned: entity_keys of the nodes that a line has named.
        described: keys of the records that lines or records of the answer have described.
        stated: the relationships that lines have stated, as short sentences.
        said: the texts of statements that lines contain.
        hinted: the hints that lines contain, each with whether the line may yet be shown in full.
    """

    now: datetime
    asked: frozenset[str] = frozenset()
    keys: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    with_properties: bool = True
    as_of: str | None = None
    conflicts: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    own: Container[str] | None = None
    node_hint: str = ""
    relationship_hint: str = ""
    budget_hint: str = ""
    mentioned: set[str] = field(default_factory=set)
    described: set[str] = field(default_factory=set)
    stated: set[str] = field(default_factory=set)
    said: set[str] = field(default_factory=set)
    hinted: set[tuple[str, bool]] = field(default_factory=set)

    @property
    def day(self) -> int:
        """The day on which the answer judges what is past."""
        return day_of_question(None if self.as_of is None else period_of(self.as_of), self.now)

    def name(self, entity_key: str, name: str, label: str = "") -> str:
        """The name of a node: with its label where it is named first, and with its key if it has a
        namesake.
        """
        shown = _shown(name) or _shown(entity_key)
        key, label = self.keys.get(entity_key, ""), label or self.labels.get(entity_key, "")
        if entity_key in self.mentioned:
            label = ""
        self.mentioned.add(entity_key)
        details = " ".join(filter(None, (label, key)))
        return f"{shown} ({safe_text(details)})" if details else shown

    def say(
        self, item: GraphNode | GraphRelationship, statement: FoundStatement, description: str
    ) -> bool:
        """Note that the line of a record has the text of a statement; whether it lacked it."""
        key = item.entity_key if isinstance(item, GraphNode) else "\0".join(item.identity)
        stated = safe_text(
            statement.note.content if statement.note is not None else description
        ).casefold()
        text = f"{key}\0{stated}" if stated else ""
        is_new = text not in self.said
        self.said.add(text)
        return is_new or not text

    def properties(self, item: GraphNode | GraphRelationship) -> JsonRecord:
        """The properties that say something, and are not also the name or the description."""
        if not self.with_properties:
            return {}
        kind = item.label if isinstance(item, GraphNode) else item.neo4j_type
        said = (item.name, item.description) if isinstance(item, GraphNode) else (item.description,)
        hidden, defaults = (
            (_BOOKKEEPING, self.defaults) if self.own is None or kind in self.own else ((), {})
        )
        return {
            name: value
            for name, value in item.properties.items()
            if name not in hidden
            and value not in (None, "", [], {}, *said)
            and defaults.get(name) != value
        }

    def line(
        self,
        head: str,
        item: GraphNode | GraphRelationship,
        hint: str,
        *,
        shown: "Shown | None" = None,
        in_full: bool = False,
    ) -> "Line":
        """The line of an item.

        Args:
            head: what the line begins with.
            item: what is described.
            hint: how to see notes that are omitted.
            shown: the statements to show; None chooses them.
            in_full: whether its other notes are shown too where the budget of the answer allows.
        """
        description, notes, others, statement, cited = shown or self.statements(item)
        if isinstance(item, GraphRelationship) and self.says_only_triplet(item):
            description = ""
        if statement is not None and not self.say(item, statement, description):
            description, notes = "", ()
        if description:
            description = safe_text(description) + trust_mark(item.trust)
        if statement is not None and notes:
            # As a description, its text is cut and not omitted if it is too long.
            description, notes = self.note_text(notes[0], cited), ()
        if others and (hint, in_full) in self.hinted:
            hint = ""
        elif others:
            self.hinted.add((hint, in_full))
        texts = [self.note_text(note) for note in notes]
        line = Line(head, description, texts, len(others), hint)
        return (
            replace(line, cut_hint=self.budget_hint, rest=lambda: map(self.note_text, others))
            if in_full
            else line
        )

    def says_only_triplet(self, relationship: GraphRelationship) -> bool:
        """Whether it has no description, or one that is the triplet in words with properties, as
        of an adopted relationship.
        """
        rest = relationship.description.removeprefix(relationship.triplet)
        for name, value in (
            self.properties(relationship).items() if rest != relationship.description else ()
        ):
            rest = rest.replace(f"; {as_words(name)}: {_value_text(value)}", "")
        return not rest

    def statements(self, item: GraphNode | GraphRelationship) -> "Shown":
        """The description to show, if any, the notes and passages to show, the best first, and the
        other current notes.

        If a search scored the statements: the best of them. Otherwise of few notes all, else those
            with most of the
        words that were asked for, or the newest.
        """
        current, scored = current_notes(item, self.now), scored_statements(item, self.now)
        if len(current) <= FEW_NOTES:
            return Shown(item.description, current)
        if scored := scored[: MATCHING_NOTES + 1]:
            notes = [one.note for one in scored if one.note is not None][:MATCHING_NOTES]
            description = item.description if any(one.note is None for one in scored) else ""
            return Shown(description, notes, without(current, notes))
        counts = [len(self.asked.intersection(plain_words(note.content))) for note in current]
        most = max(counts)
        matching = [note for note, count in zip(current, counts, strict=True) if count == most > 0]
        notes = matching[:MATCHING_NOTES] or current[:NEWEST_NOTES]
        return Shown(item.description, notes, without(current, notes))

    def source_details(self, entity_key: str | None, quote: str | None = None) -> list[str]:
        """The source of a statement and the words there that say it, as far as they are known and
        sources are shown.
        """
        if self.sources is None:
            return []
        source = entity_key and f"source {safe_name(self.sources.get(entity_key, entity_key))}"
        said = [source, quote and f"“{safe_text(quote)}”"]
        return [": ".join(filter(None, said))] if any(said) else []

    def _cited_details(self, cited: Cited, quote: str) -> list[str]:
        """The source of a note with the sentences there that match the question and the quote."""
        said_on = f", {safe_text(cited.passage.when)}" if cited.passage.when else ""
        words = self._passage_text(cited.passage, plain_words(quote))
        return [f"source {safe_name(cited.source)}{said_on}: {words}"]

    def _passage_text(self, passage: Passage, more: Iterable[str] = ()) -> str:
        """The sentences of a passage that match, behind its section."""
        words = f"“{quoted(passage.content, self.asked.union(more))}”"
        return in_section(safe_text(words), safe_section(passage.section))

    def with_sentences(self, note: Note) -> Note:
        """A note; of a passage the sentences that match."""
        if not isinstance(note, Passage):
            return note
        return note.model_copy(update={"content": quoted(note.content, self.asked)})

    def note_text(self, note: Note, cited: Cited | None = None) -> str:
        """A note with its time, source and expiry, as far as it has them and they are shown; of a
        passage the sentences that match, whose date stands beside the name of the source.

        Args:
            note: the note.
            cited: the passage that it quotes, if its text stands for that too.
        """
        if isinstance(note, Passage):
            return self._passage_text(note) + trust_mark(note.trust)
        details = ["former"] if isinstance(note, FormerDescription) else []
        details += [safe_text(note.when)] if note.when else []
        if note.said_apart and self.sources is not None:
            details.append(f"said {safe_text(note.said_apart)}")
        details += (
            self.source_details(note.source_entity_key, note.quote)
            if cited is None
            else self._cited_details(cited, note.quote or "")
        )
        if note.expires_at:
            details.append(f"until {note.expires_at:%Y-%m-%d}")
        if note.trust == UNKNOWN:
            details.append(UNKNOWN_SOURCE)
        return safe_text(note.content) + (f" ({', '.join(details)})" if details else "")


@dataclass(frozen=True)
class Line:
    """A line in parts, which can be shortened.

    Attributes:
        head: what is described; never omitted. Empty if the line goes on with that of its record.
        description: its text.
        notes: notes, best first.
        others: number of further notes.
        hint: how to see the further notes.
        cut_hint: how to see the rest of a text that was cut.
        rest: returns the further notes if the line may have what is left of the budget, see
            `fitted`; otherwise None.
        key: of the record, if the statements of the record share a line.
    """

    head: str
    description: str = ""
    notes: Sequence[str] = ()
    others: int = 0
    hint: str = ""
    cut_hint: str = ""
    rest: Callable[[], Iterable[str]] | None = None
    key: str = ""

    def text(self, notes: int | None = None, description: str | None = None) -> str:
        """The line with so many of its notes."""
        shown = list(self.notes[:notes])
        others = self.others + len(self.notes) - len(shown)
        described = self.description if description is None else description
        if others:
            counted = f"+{others:,} {'note' if others == 1 else 'notes'}"
            shown.append(f"{counted}: {self.hint}" if self.hint else counted)
        said = " | ".join(filter(None, (described, *shown)))
        return ": ".join(filter(None, (self.head, said)))

    def fitted(self, room: int, *, in_full: bool = False) -> str:
        """The line within some tokens: with fewer notes, then with less of the description; empty
        if it cannot be.

        Args:
            room: maximum number of tokens.
            in_full: whether its further notes follow as far as they fit; the last one may be cut.
        """
        text, described = self.text(), self.description
        if fits(text, room):
            if not in_full or not self.others:
                return text
        elif self.notes:
            of_notes = sum(
                estimated_tokens(note) if fits(note, room) else room for note in self.notes
            )
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
            if (
                in_full
                and left >= MIN_NOTE_TOKENS
                and (start := cut(note, left - 1, self.cut_hint))
            ):
                shown.append(start)
            break
        others = self.others + len(self.notes) - len(shown)
        noted = replace(self, description=described, notes=shown, others=others)
        texts = (noted.text(notes) for notes in range(len(shown), 0, -1))
        return next((text for text in texts if fits(text, room)), bare)


class Item(ABC):
    """One item of an answer.

    Attributes:
        score: what the answer sorts it by; None if it is not sorted by a score.
    """

    score: float | None = None

    @property
    def contributions(self) -> Mapping[str, float]:
        """What each feature adds to its score; empty if it is not sorted by such a score."""
        return {}

    def names(self) -> Iterator[tuple[str, str]]:
        """The entity_key and the name of each node that its lines name."""
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

    def lines(self, state: RenderState) -> list[Line]:  # noqa: ARG002
        """The line."""
        return [] if self.line is None else [self.line]

    def records(self, state: RenderState) -> list[tuple[str, Any]]:  # noqa: ARG002
        """The record."""
        return [(self.section, self.record)]


class RecordItem(Item):
    """A node or a relationship; if its statements are items of their own, its record is in the
    answer once.

    Attributes:
        section: field of the answer.
        more: further fields of its record.
        in_full: whether all its notes are shown if the budget allows.
        shown: the statements of its line; None leaves the choice to the answer.
    """

    section: str
    more: Mapping[str, Any]
    in_full: bool
    shown: Shown | None

    @property
    @abstractmethod
    def described(self) -> GraphNode | GraphRelationship:
        """The node or relationship."""

    @property
    @abstractmethod
    def key(self) -> str:
        """What tells it apart from others."""

    @property
    def contributions(self) -> Mapping[str, float]:
        """Those of its statement, or of its best one."""
        statements = self.described.statements
        chosen = self.shown.statement if self.shown is not None else next(iter(statements), None)
        return {} if chosen is None else chosen.contributions

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:
        """Its record, once."""
        if not self._introduce(state):
            return []
        return [(self.section, item_record(self.described, state) | dict(self.more))]

    def _introduce(self, state: RenderState) -> bool:
        """Note that a statement of the record is shown; whether none was before."""
        if self.shown is None:
            return True
        is_first = self.key not in state.described
        state.described.add(self.key)
        return is_first

    def _statement_line(self, state: RenderState, head: Callable[[], str], hint: str) -> list[Line]:
        """The line of one statement: with the head of its record where that is first on the
        page.
        """
        line = state.line(
            head() if self._introduce(state) else "", self.described, hint, shown=self.shown
        )
        is_empty = not line.head and not line.description and not line.notes
        return [] if is_empty else [replace(line, key=self.key)]


@dataclass(frozen=True)
class NodeItem(RecordItem):
    """A node.

    Attributes:
        node: the node.
        section: field of the answer.
        more: further fields of its record.
        remark: what to add to the line.
        score: what the answer sorts it by; None outside a search.
        is_named: whether a relationship of the answer names it; then it has a line only if that
            says more.
        is_only_named: whether it was found only as an end of such a relationship; then it has no
            line.
        in_full: whether all its notes are shown if the budget allows.
        shown: the statements of its line; None leaves the choice to the answer.
    """

    node: GraphNode
    section: str
    more: Mapping[str, Any] = field(default_factory=dict)
    remark: str = ""
    score: float | None = None
    is_named: bool = False
    is_only_named: bool = False
    in_full: bool = False
    shown: Shown | None = None

    @property
    def described(self) -> GraphNode:
        """The node."""
        return self.node

    @property
    def key(self) -> str:
        """Its key."""
        return self.node.entity_key

    def names(self) -> Iterator[tuple[str, str]]:
        """The node."""
        yield self.node.entity_key, self.node.name

    def lines(self, state: RenderState) -> list[Line]:
        """The node with what is known of it."""
        node = self.node
        if self.is_only_named:
            return []
        if self.shown is not None:
            return self._statement_line(state, lambda: self._head(state), state.node_hint)
        shown, properties = state.statements(node), state.properties(node)
        if self.is_named and not properties and not any(shown[:2]):
            return []
        head = self._head(state) + self.remark
        return [state.line(head, node, state.node_hint, shown=shown, in_full=self.in_full)]

    def _head(self, state: RenderState) -> str:
        node = self.node
        noted = f" (first noted {node.first_noted})" if node.first_noted else ""
        name = state.name(node.entity_key, node.name, node.label)
        passages = [one.note for one in node.statements if isinstance(one.note, Passage)]
        if said_on := next((one.when for one in passages if one.when), None):
            name += f", {safe_text(said_on)}"
        name += "" if node.description or passages else trust_mark(node.trust)
        name += owner_mark(node)
        return name + _properties_text(state.properties(node)) + noted + _score_text(self.score)


@dataclass(frozen=True)
class RelationshipItem(RecordItem):
    """A relationship.

    Attributes:
        relationship: the relationship.
        section: field of the answer.
        more: further fields of its record.
        score: what the answer sorts it by; None outside a search.
        path: the relationships that led to it, as short sentences with their times.
        remark: what to add to the line.
        in_full: whether all its notes are shown if the budget allows.
        shown: the statements of its line; None leaves the choice to the answer.
    """

    relationship: GraphRelationship
    section: str
    more: Mapping[str, Any] = field(default_factory=dict)
    score: float | None = None
    path: Sequence[str] = ()
    remark: str = ""
    in_full: bool = False
    shown: Shown | None = None

    @property
    def described(self) -> GraphRelationship:
        """The relationship."""
        return self.relationship

    @property
    def key(self) -> str:
        """Its type, its ends and which of several it is."""
        return "\0".join(self.relationship.identity)

    def names(self) -> Iterator[tuple[str, str]]:
        """Both ends."""
        yield self.relationship.from_entity_key, self.relationship.from_name
        yield self.relationship.to_entity_key, self.relationship.to_name

    def lines(self, state: RenderState) -> list[Line]:
        """The relationship in its direction, with what is known of it."""
        hint = state.relationship_hint
        if self.shown is not None:
            return self._statement_line(state, lambda: self._head(state), hint)
        return [state.line(self._head(state), self.relationship, hint, in_full=self.in_full)]

    def _head(self, state: RenderState) -> str:
        head = relationship_text(self.relationship, state) + self.remark + _score_text(self.score)
        if led := [triplet for triplet in self.path if triplet not in state.stated]:
            head += f" via {safe_text('; '.join(led))}"
        state.stated.add(self.stated(state))
        return head

    def stated(self, state: RenderState) -> str:
        """The relationship as a short sentence with its time."""
        one = self.relationship
        return with_time(one.triplet, one.when, state.day, one.last_said)


@dataclass(frozen=True)
class NoteItem(Item):
    """A note with a line of its own."""

    note: Note

    def lines(self, state: RenderState) -> list[Line]:
        """The note with its date."""
        return [Line("- Note", state.note_text(self.note), cut_hint=state.budget_hint, rest=tuple)]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:  # noqa: ARG002
        """The note."""
        return [
            ("notes", self.note.model_dump(mode="json", exclude_none=True, exclude={"added_by"}))
        ]


@dataclass(frozen=True)
class StatedItem(Item):
    """When and where some fields of a record were last stated, with a line of its own."""

    stated: Stated
    fields: Sequence[str]

    def lines(self, state: RenderState) -> list[Line]:
        """The fields: `- Said 2024-06, source Talk: description, attitude`."""
        said = f"said {safe_name(self.stated.said_on)}" if self.stated.said_on else ""
        details = [said, *state.source_details(self.stated.source_entity_key)]
        head = ", ".join(filter(None, details)) or "source unknown"
        return [Line(f"- {head[0].upper()}{head[1:]}", ", ".join(self.fields))]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:  # noqa: ARG002
        """The fields with their date and source."""
        known = {name: value for name, value in self.stated._asdict().items() if value}
        return [("stated", {"fields": list(self.fields), **known})]


@dataclass(frozen=True)
class HistoryItem(Item):
    """An earlier value of a record, with a line of its own.

    Attributes:
        entry: the value, and how long it was stored.
        word: its word, if it is a level.
    """

    entry: HistoryEntry
    word: str = ""

    def lines(self, state: RenderState) -> list[Line]:
        """The value and until when it was stored: `- Former description (until 2026-01-31): …`."""
        entry = self.entry
        until = entry.ended or entry.said_on or (f"{entry.until:%Y-%m-%d}" if entry.until else "")
        details = [f"until {until}"] if until else []
        details += state.source_details(entry.source_entity_key)
        details += [UNKNOWN_SOURCE] if entry.trust == UNKNOWN else []
        kind, value = "Wrong" if entry.corrected else "Former", self.word or str(entry.value)
        head = f"- {kind} {safe_text(entry.field)}" + (
            f" ({', '.join(details)})" if details else ""
        )
        text = safe_text(f"{value} ({entry.when})" if entry.when else value)
        return [Line(head, text, cut_hint=state.budget_hint, rest=tuple)]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:  # noqa: ARG002
        """The entry."""
        return [("history", self.entry.model_dump(mode="json", exclude_defaults=True))]


def scored_statements(item: GraphNode | GraphRelationship, now: datetime) -> list[FoundStatement]:
    """The description, as the statement without a note, the current notes that a search scored, and
    the passages among the notes of the item, best first.
    """
    return [
        one
        for one in item.statements
        if one.note is None
        or (
            one.note.is_current(now)
            and (not isinstance(one.note, Passage) or one.note in item.notes)
        )
    ]


def current_notes(item: GraphNode | GraphRelationship, now: datetime) -> list[Note]:
    """The notes that have not expired, newest first."""
    return oldest_first(
        reversed([note for note in item.notes if note.content and note.is_current(now)])
    )[::-1]


def without(notes: Iterable[Note], others: Sequence[Note]) -> list[Note]:
    """Some notes without others."""
    known = set(map(id, others))
    return [note for note in notes if id(note) not in known]


def namesakes(items: Iterable[Item]) -> set[str]:
    """The entity_keys of nodes whose name, as far as it is shown, another node of the items has
    too.
    """
    keys: dict[str, set[str]] = defaultdict(set)
    for item in items:
        for key, name in item.names():
            keys[_shown(name).casefold()].add(key)
    return {key for of_name in keys.values() if len(of_name) > 1 for key in of_name}


def _shown(name: str) -> str:
    """A name as lines show it."""
    return safe_name(beginning(name, MAX_NAME_LENGTH + 1))


def relationship_text(relationship: GraphRelationship, state: RenderState) -> str:
    """A relationship in its direction: `Me (Person) -[mentor]-> Ruth (Person) (warm, close)`.

    Args:
        relationship: the relationship.
        state: what the answer has said already.
    """
    ends = [
        (relationship.from_entity_key, relationship.from_name),
        (relationship.to_entity_key, relationship.to_name),
    ]
    source, target = (
        state.name(*end) for end in (reversed(ends) if relationship.ends_reversed else ends)
    )
    text = f"{source} -[{kind_text(relationship)}]-> {target}"
    said = relationship.said_on if not relationship.when else None
    levels = [
        f"{word or f'{name} {level}'}{_said_apart(relationship.said_of.get(name), said)}"
        for name, word, level in (
            ("attitude", relationship.attitude_word, relationship.attitude),
            ("proximity", relationship.proximity_word, relationship.proximity),
        )
        if word or level is not None
    ]
    noted = (
        f"first noted {relationship.first_noted}"
        if relationship.first_noted and not relationship.when
        else ""
    )
    time = f"said {said}" if said else ""
    if relationship.when:
        time = time_text(relationship.when, state.day, relationship.last_said)
    other = safe_text(state.conflicts.get(relationship.identity, ""))
    conflict = f"conflicts with {other}" if other else ""
    is_unknown = relationship.trust == UNKNOWN and state.says_only_triplet(relationship)
    unknown = UNKNOWN_SOURCE if is_unknown else ""
    owner = owner_text(relationship)
    details = ", ".join(filter(None, (*levels, safe_text(time), noted, conflict, unknown, owner)))
    properties = _properties_text(state.properties(relationship))
    return text + (f" ({details})" if details else "") + properties


def _said_apart(level_said_on: str | None, said_on: str | None) -> str:
    """When a level was said, beside another day on which the relationship was."""
    if not level_said_on or not said_on or level_said_on == said_on:
        return ""
    return f" as of {safe_text(level_said_on)}"


def kind_text(relationship: GraphRelationship) -> str:
    """The free type of a relationship, or else its Neo4j type."""
    return safe_name(relationship.relationship_type) or safe_name(relationship.neo4j_type)


def item_record(item: GraphNode | GraphRelationship, state: RenderState) -> JsonRecord:
    """A node or relationship as JSON types, without bookkeeping; with the same notes as its
    line.
    """
    shown = state.statements(item)
    update = {
        "description": shown.description,
        "notes": tuple(map(state.with_sentences, shown.notes)),
        "properties": state.properties(item),
    }
    record = item.model_copy(update=update).to_dict()
    for note in record.get("notes", ()):
        note.pop("added_by", None)
    rounded = {name: round(value, 4) for name, value in record.items() if isinstance(value, float)}
    if isinstance(item, GraphRelationship):
        record |= time_of(item, state)
    return record | rounded | ({"omitted_notes": len(shown.others)} if shown.others else {})


def time_of(relationship: GraphRelationship, state: RenderState) -> JsonRecord:
    """The time of a relationship, if it has one, whether that is past, and what it conflicts
    with.
    """
    when = {"when": relationship.when} if relationship.when else {}
    other = state.conflicts.get(relationship.identity)
    conflict = {"conflicts_with": other} if other else {}
    past = is_past(relationship.when, state.day, relationship.last_said)
    return when | ({"past": True} if past else {}) | conflict


def _properties_text(properties: JsonRecord) -> str:
    if not properties:
        return ""
    values = (
        name if value is True else f"{name}: {_value_text(value)}"
        for name, value in properties.items()
    )
    return f" [{safe_text('; '.join(values))}]"


def owner_text(item: GraphNode | GraphRelationship) -> str:
    """Whose a record is that is not the user's."""
    return f"of {safe_name(item.owner)}" if item.owner else ""


def owner_mark(item: GraphNode | GraphRelationship) -> str:
    """The same behind a name."""
    return f" ({owner_text(item)})" if item.owner else ""


def _score_text(score: float | None) -> str:
    return "" if score is None else f" {score:.2f}"


def _value_text(value: object) -> str:
    texts = value if isinstance(value, list) else [value]
    return ", ".join(map(str, texts))
