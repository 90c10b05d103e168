"""Quotes: the words of the text of a source that a note rests on.

A note is stored with its quote if the text of its source contains these words one after the other;
letter case, white space, accents and punctuation may differ. A turn id that stands in the text is
such a quote too. Of a source without a text in the graph, nothing can be checked until it has one;
a note loses its quote when its source gets a text without these words.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from kgagent.formatting import beginning
from kgagent.graph.nodes import NodeIntent, NodeRepository
from kgagent.graph.note_edit import NoteEdit
from kgagent.graph.property_names import SOURCE_TEXT
from kgagent.graph.records import NodeRecord, Record
from kgagent.graph.relationships import RelationshipIntent
from kgagent.graph.user_graph import UserGraph, intent_of
from kgagent.models import Note
from kgagent.models.note import dump_notes
from kgagent.names import contains_words, plain_sentence, shorten_name
from kgagent.trust import level

Intent = NodeIntent | RelationshipIntent
IntentT = TypeVar("IntentT", bound=Intent)
Quoted = tuple[str | None, str]
"""The key of a source, if one is given, and words that are said to be in its text."""

MAX_CITING = 10_000
"""Records whose quotes are compared with the new text of their source."""

MAX_SHOWN = 80
"""Characters of a quote that a notice repeats."""


@dataclass
class Quotes:
    """The quotes of the notes that are written.

    Attributes:
        wrong: quotes that the text of their source does not contain, with the name of the source.
    """

    wrong: dict[Quoted, str] = field(default_factory=dict)

    async def check(self, nodes: NodeRepository, user_id: str, intents: Iterable[Intent]) -> None:
        """Compare the quotes of some writes with the texts of their sources, which are read with
        one statement if there are quotes.

        Raises:
            StoreError: the database failed.
        """
        asked = {quoted for intent in intents for quoted in _quoted(intent)}
        if asked:
            sources = await nodes.read(user_id, [key for key, _ in asked if key])
            # A long text takes a while, during which other users' calls go on.
            self.wrong |= await asyncio.to_thread(_wrong, sources, asked)

    def checked(self, intent: IntentT) -> IntentT:
        """A write without the quotes that are wrong."""
        wrong = self._wrong_of(intent)
        if not wrong:
            return intent
        notes = tuple(
            note.model_copy(update={"quote": None}) if _of_note(note) in wrong else note
            for note in intent.notes
        )
        edit = intent.edit
        if isinstance(edit, NoteEdit) and edit.changes is not None:
            edit = replace(edit, changes={**edit.changes, "quote": None})
        return replace(intent, notes=notes, edit=edit)

    def notices(self, intents: Iterable[Intent]) -> list[str]:
        """What to say of the quotes of some writes that are wrong, once for each source."""
        wrong = dict.fromkeys(quoted for intent in intents for quoted in self._wrong_of(intent))
        shown: dict[Quoted, list[str]] = {}
        for source, quote in wrong:
            name = shorten_name(self.wrong[source, quote])
            shown.setdefault((source, name), []).append(quote)
        return [
            f"{f'Not in the text of {name!r}' if source else 'Without a source'}, so not kept as a "
            f"quote: {_listed(quotes)}"
            for (source, name), quotes in shown.items()
        ]

    def _wrong_of(self, intent: Intent) -> list[Quoted]:
        return [quoted for quoted in _quoted(intent) if quoted in self.wrong]


def _quoted(intent: Intent) -> list[Quoted]:
    edit = intent.edit
    changes: Mapping[str, Any] = edit.changes or {} if isinstance(edit, NoteEdit) else {}
    edited = (changes.get("source_entity_key"), changes.get("quote"))
    every = (*map(_of_note, intent.notes), *([edited] if edited[0] else ()))
    return list(dict.fromkeys((source, quote) for source, quote in every if quote))


def _of_note(note: Note) -> tuple[str | None, str | None]:
    return note.source_entity_key, note.quote


def _wrong(sources: Mapping[str, NodeRecord], asked: Iterable[Quoted]) -> dict[Quoted, str]:
    texts = {key: plain_sentence(source.text(SOURCE_TEXT)) for key, source in sources.items()}
    names = {key: source.text("name") or key for key, source in sources.items()}
    return {
        (key, quote): names[key] if key else ""
        for key, quote in asked
        if key is None or (texts.get(key) and not contains_words(texts[key], plain_sentence(quote)))
    }


def _listed(quotes: Iterable[str]) -> str:
    return "; ".join(repr(beginning(quote, MAX_SHOWN)) for quote in quotes)


@dataclass(frozen=True)
class LostQuotes:
    """A change of the notes of a record: they lose the quotes that the text of a source lacks.

    Attributes:
        source: the key of the source.
        text: its new text, as `plain_sentence` gives it.
    """

    source: str
    text: str

    def values(self, stored: Record) -> dict[str, Any]:
        """The properties to write."""
        losing = self.losing(stored)
        return {
            "notes": dump_notes(
                one.model_copy(update={"quote": None}) if one in losing else one
                for one in stored.notes
            )
        }

    def losing(self, stored: Record) -> list[Note]:
        """The notes of a record that lose their quotes."""
        return [
            one
            for one in stored.notes
            if one.quote
            and one.source_entity_key == self.source
            and not contains_words(self.text, plain_sentence(one.quote))
        ]


async def lost_quotes(
    graph: UserGraph, texts: Mapping[str, str]
) -> tuple[list[Intent], dict[str, str]]:
    """The writes by which notes lose the quotes that the new texts of their sources lack, and what
    to say of each source.

    Args:
        graph: the records of the user.
        texts: the new texts of sources that exist, by their keys.

    Raises:
        StoreError: the database failed.
    """
    intents, said = list[Intent](), dict[str, str]()
    for key, source in (await graph.nodes.read(graph.user_id, list(texts))).items():
        # A text that only gets longer keeps all quotes; one of a higher class stays.
        is_kept = (old := source.text(SOURCE_TEXT)) and texts[key].startswith(old)
        if is_kept or level(source.trust) > level(graph.context.trust):
            continue
        edit = LostQuotes(key, await asyncio.to_thread(plain_sentence, texts[key]))
        losing = [
            one
            for records in await graph.citing(key, MAX_CITING)
            for one in records
            if edit.losing(one)
        ]
        intents += [replace(intent_of(one), edit=edit) for one in losing]
        if quotes := [note.quote or "" for one in losing for note in edit.losing(one)]:
            name, shown = shorten_name(source.text("name")), _listed(dict.fromkeys(quotes))
            said[key] = f"No longer in the text of {name!r}, so not a quote now: {shown}"
    return intents, said
