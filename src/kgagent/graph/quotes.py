"""Quotes: the words of the text of a source that a note rests on.

A note is stored with its quote if the text of its source contains these words one after the other;
letter case, white space, accents and punctuation may differ. A turn id that stands in the text is
such a quote too. Of a source without a text in the graph, nothing can be checked.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from kgagent.formatting import beginning
from kgagent.graph.nodes import NodeIntent, NodeRepository
from kgagent.graph.note_edit import NoteEdit
from kgagent.graph.property_names import SOURCE_TEXT
from kgagent.graph.records import NodeRecord
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models import Note
from kgagent.names import contains_words, plain_sentence, shorten_name

Intent = NodeIntent | RelationshipIntent
IntentT = TypeVar("IntentT", bound=Intent)
Quoted = tuple[str, str]
"""The key of a source, and words that are said to be in its text."""

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
            sources = await nodes.read(user_id, [key for key, _ in asked])
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
            shown.setdefault((source, name), []).append(repr(beginning(quote, MAX_SHOWN)))
        return [
            f"Not in the text of {name!r}, so not kept as a quote: {'; '.join(quotes)}"
            for (_, name), quotes in shown.items()
        ]

    def _wrong_of(self, intent: Intent) -> list[Quoted]:
        return [quoted for quoted in _quoted(intent) if quoted in self.wrong]


def _quoted(intent: Intent) -> list[Quoted]:
    edit = intent.edit
    changes: Mapping[str, Any] = edit.changes or {} if isinstance(edit, NoteEdit) else {}
    edited = (changes.get("source_entity_key"), changes.get("quote"))
    every = (*map(_of_note, intent.notes), edited)
    return list(dict.fromkeys((source, quote) for source, quote in every if source and quote))


def _of_note(note: Note) -> tuple[str | None, str | None]:
    return note.source_entity_key, note.quote


def _wrong(sources: Mapping[str, NodeRecord], asked: Iterable[Quoted]) -> dict[Quoted, str]:
    texts = {key: plain_sentence(source.text(SOURCE_TEXT)) for key, source in sources.items()}
    return {
        (key, quote): sources[key].text("name") or key
        for key, quote in asked
        if texts.get(key) and not contains_words(texts[key], plain_sentence(quote))
    }
