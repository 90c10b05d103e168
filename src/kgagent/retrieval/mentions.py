"""Names that a text mentions, from which a query is expanded."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from kgagent.plain_names import folded_words

MIN_NAME_LENGTH = 2
"""Minimum number of letters of a name; shorter names occur in too many texts by chance."""

MAX_TEXT_LENGTH = 1_000
"""Number of words of a text that are searched for names."""

CONNECTING = frozenset(re.findall(r"\w+", "a an and at by de for from in is it la of on the to with"))
WORD = re.compile(r"\w+(?:['\u2019.-]\w+)*")
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_MONTHS = "january february march april may june july august september october november december"
_NO_NAMES = frozenset(re.findall(r"[\w']+", f"i i'm i'd i've i'll {_DAYS} {_MONTHS}"))
_POSSESSIVE = re.compile(r"['\u2019]s$")

# A capital letter inside a sentence belongs to a title ("My Left Foot") or is a number ("Charles I").
_FIRST_PERSON = re.compile(
    r"(?:^\W*(?i:i|me|my|mine|myself)|\b(?:me|my|mine|myself)|(?:^\W*\w+|\b[a-z]\w*)[^\w.?!]+(?i:i)|[.?!]\s+(?:I|My))\b"
)
_REQUEST = re.compile(r"(?i)^\W*(?:(?:please|can you) )?(?:(?:tell|show|give) me|what do i know (?:of|about))(?=\W+\w)")
_ASCII_WORD = re.compile(r"[a-z0-9]+")

_Place = tuple[int, int]
"""Position of a name's first word in a text, and of the word after its last."""


def mentioned_names(text: str, names: Iterable[str]) -> set[str]:
    """Find the names that a text contains as whole words, ignoring case, accents and punctuation.

    A name that only occurs inside a longer one ("King" in "King Lear") is not a mention.

    Args:
        text: for example a question.
        names: the names to look for.
    """
    positions: dict[str, list[int]] = defaultdict(list)
    words = name_words(text)[:MAX_TEXT_LENGTH]
    for position, word in enumerate(words):
        positions[word].append(position)
    places = {name: _places(name_words(name), words, positions) for name in names}
    outermost = _outermost({place for found in places.values() for place in found})
    return {name for name, found in places.items() if outermost & found}


def is_first_person(text: str) -> bool:
    """Whether a text speaks of its author: "whom did I meet?", but not "tell me of Ada" or "what do I know of Ada?"."""
    return _FIRST_PERSON.search(_REQUEST.sub("", text)) is not None


def capitalized_phrases(query: str) -> list[str]:
    """The runs of capitalized words, with the connecting words between them; the first word only in "Ann and Bob"."""
    phrases = _phrases_and_rest(query)[0]
    first, joint, second, *_ = [*WORD.findall(query), " ", " ", " "]
    is_name = joint == "and" and first[0].isupper() and second[0].isupper() and first.casefold() not in _NO_NAMES
    return [_POSSESSIVE.sub("", first), *phrases] if phrases and is_name else phrases


def without_names(query: str) -> str:
    """The words of a query outside its capitalized phrases; the query itself if that leaves less than two words."""
    phrases, rest = _phrases_and_rest(query)
    return " ".join(rest) if phrases and len(rest) > 1 else query


def _phrases_and_rest(query: str) -> tuple[list[str], list[str]]:
    first, *following = WORD.findall(query) or [""]
    phrases: list[list[str]] = [[]]
    rest, has_names = [first], not query.isupper()
    for word in following:
        is_name = word[0].isupper() or (phrases[-1] and (word[0].isdigit() or word.casefold() in CONNECTING))
        if has_names and is_name and word.casefold() not in _NO_NAMES:
            phrases[-1].append(_POSSESSIVE.sub("", word))
        else:
            rest.append(word)
            phrases.append([])
    for phrase in phrases:
        while phrase and phrase[-1] in CONNECTING:
            phrase.pop()
    return [" ".join(phrase) for phrase in phrases if phrase], rest


def _places(name: Sequence[str], words: Sequence[str], positions: Mapping[str, Sequence[int]]) -> set[_Place]:
    if sum(map(len, name)) < MIN_NAME_LENGTH:
        return set()
    starts = positions.get(name[0], ())
    return {(first, first + len(name)) for first in starts if words[first : first + len(name)] == name}


def _outermost(places: Iterable[_Place]) -> set[_Place]:
    """The places that lie within no other: sorted by start, those that end after all before them."""
    kept: set[_Place] = set()
    reached = 0
    for first, end in sorted(places, key=lambda place: (place[0], -place[1])):
        if end > reached:
            kept.add((first, end))
            reached = end
    return kept


def name_words(text: str) -> list[str]:
    """Folded words, see `folded_words`; those of ASCII, of which most names are, take a tenth of the time."""
    return _ASCII_WORD.findall(text.lower()) if text.isascii() else folded_words(text)
