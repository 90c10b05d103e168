"""Names in a search that no node has: the first line of an answer that is about something else."""

import calendar
import re
from collections.abc import Iterable, Iterator

from kgagent.models.graph import GraphNode, GraphRelationship
from kgagent.plain_names import folded, without_accents
from kgagent.suggestions import shorten_name
from kgagent.tools.context import ToolContext

MAX_NAMES = 3
MAX_TEXT = 10_000
"""Characters of a text of a record in which a name is searched."""

_WORD = re.compile(r"[^\W_][\w'\u2019-]*")
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_DATES = frozenset(map(str.casefold, (*calendar.month_name[1:], *calendar.day_name)))
_DETERMINERS = frozenset(
    (
        *("der", "die", "das", "den", "dem", "des", "am", "im", "beim", "vom", "zum", "zur", "euer"),
        *(
            stem + ending
            for stem in ("ein", "kein", "mein", "dein", "sein", "ihr", "unser")
            for ending in ("", "e", "em", "en", "er", "es")
        ),
    )
)
"""German words after which a capitalized word is usually a noun."""

_NO_NAMES = _DATES | {"i", "i'm", "i've", "i'd", "i'll"}


async def unknown_names(
    context: ToolContext,
    queries: Iterable[str],
    names: Iterable[str],
    found: Iterable[GraphNode | GraphRelationship],
) -> str:
    """Name what no node is called and nothing that was found contains; empty if there is no such name.

    The database is asked only if nothing that was found contains any word of a name.

    Args:
        context: the user's graph.
        queries: questions, whose capitalized words are names.
        names: other names that were searched.
        found: what the search found; if it is empty, the answer says so itself.

    Raises:
        StoreError: the database failed.
    """
    left = list(dict.fromkeys((*names, *(name for query in queries for name in _capitalized(query)))))
    records = list(found)
    for record in records:
        if left:
            texts = [_folded(text[:MAX_TEXT]) for text in _texts(record)]
            left = [name for name in left if not _occurs(name, texts)]
    if not left or not records:
        return ""
    meant = await context.references.candidates(context.user_id, left[:MAX_NAMES])
    return " ".join(f'No node is named "{shorten_name(name)}".' for name, nodes in meant.items() if not nodes)


def _capitalized(query: str) -> Iterator[str]:
    """The runs of capitalized words; the first word counts only if all words are capitalized."""
    words = [_POSSESSIVE.sub("", word) for word in _WORD.findall(query)]
    are_names = [
        word[:1].isupper() and word.casefold() not in _NO_NAMES and before.casefold() not in _DETERMINERS
        for before, word in zip(["", *words], words, strict=False)
    ]
    if query.isupper():
        return
    run: list[str] = []
    for position, (word, is_name) in enumerate(zip(words, are_names, strict=True)):
        if is_name and (position or all(are_names)):
            run.append(word)
        elif run:
            yield " ".join(run)
            run = []
    if run:
        yield " ".join(run)


def _texts(record: GraphNode | GraphRelationship) -> Iterator[str]:
    if isinstance(record, GraphNode):
        yield record.name
        yield from map(str, record.properties.values())
    else:
        yield from (record.from_name, record.to_name, record.relationship_type)
    yield record.description
    yield from (note.content for note in record.notes)


def _occurs(name: str, texts: Iterable[str]) -> bool:
    """Whether a text contains any word of a name, which may have an s of a plural or genitive."""
    words = [word.removesuffix("s") or word for word in _WORD.findall(_folded(name))]
    return any(word in text for text in texts for word in words)


def _folded(text: str) -> str:
    """A text without letter case and accents."""
    return text.casefold() if text.isascii() else without_accents(folded(text))
