"""Tokens: estimating how many a text has, and cutting texts and records to a number of tokens."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from kgagent.models.plain import without_empty

RECORD_TOKENS = 10_000
"""Tokens of a record in the payload of a tool that writes."""

_LETTERS_OF_A_TOKEN = 4
_DIGITS_OF_A_TOKEN = 3
_PIECE = re.compile(
    r"(?P<letters>[A-Za-z]+)|(?P<digits>\d+)|(?P<ascii>[!-~])|(?P<line>\n)|(?P<other>[^\s!-~])"
)

_LONGEST_TOKEN = 16
"""Upper bound of the average characters per token; a text that is too long by this bound need not
be counted.
"""

_SHORTEST_CUT = 40
"""Characters below which a text of a record is not cut further."""

_COUNT_TOKENS = 12
"""Tokens of the field `omitted_notes`."""


def estimated_tokens(text: str) -> int:
    """Estimate how many tokens a text is, rather too many than too few.

    A word counts one token for every four letters or part of them, a number one for every three
    digits, a punctuation mark one, and a character beyond ASCII two; tokenizers of current models
    mostly need fewer.
    """
    return sum(map(_tokens_of, _PIECE.finditer(text)))


def fits(text: str, room: int) -> bool:
    """Whether a text has at most `room` tokens."""
    return len(text) <= room * _LONGEST_TOKEN and estimated_tokens(text) <= room


def cut(text: str, room: int, hint: str = "") -> str:
    """Cut a text to some tokens; the end says how many characters are omitted. Empty if not even
    that fits.

    Args:
        text: the text.
        room: maximum number of tokens.
        hint: how to see the rest; part of the end.
    """
    if fits(text, room):
        return text
    # The number of tokens grows with that of characters, but not strictly: only lengths that fit
    # are kept.
    shortest, longest, best = 0, min(len(text), room * _LONGEST_TOKEN), ""
    while shortest <= longest:
        length = (shortest + longest) // 2
        shown = cut_to(text, length, hint)
        if estimated_tokens(shown) <= room:
            shortest, best = length + 1, shown
        else:
            longest = length - 1
    return best


def cut_to(text: str, length: int, hint: str = "") -> str:
    """Cut a text to some characters; the end says how many are omitted, and how to see them if
    there is a hint.
    """
    kept = text[:length].rstrip()
    return f"{kept}… (+{len(text) - len(kept):,} characters{f': {hint}' if hint else ''})"


def json_tokens(value: object) -> int:
    """Tokens of a value as JSON, with the comma and the space after it."""
    return estimated_tokens(json.dumps(value, ensure_ascii=False)) + 1


def cut_record(
    record: Mapping[str, Any], room: int, *, newest_notes: bool = False
) -> dict[str, Any] | None:
    """Cut a record of JSON types to some tokens; None if that is not possible.

    First notes are omitted, except one, and counted in `omitted_notes`; then the longest texts are
    cut, which say how many characters are omitted; at last the remaining notes are omitted too.

    Args:
        record: the record.
        room: maximum number of tokens.
        newest_notes: whether the last notes are kept, which are the newest ones of a stored record,
            or the first.
    """
    if fits(json.dumps(record, ensure_ascii=False), room - 1):
        return dict(record)
    if room <= 0:
        return None
    shown: dict[str, Any] = json.loads(json.dumps(record))
    noted = [part for part in _parts(shown) if isinstance(part.get("notes"), list)]
    for kept in (1, 0):
        excess = json_tokens(shown) - room
        for part in noted:
            while excess > 0 and len(part["notes"]) > kept:
                if not part.get("omitted_notes"):
                    part["omitted_notes"] = 0
                    excess += _COUNT_TOKENS
                excess -= json_tokens(part["notes"].pop(0 if newest_notes else -1))
                part["omitted_notes"] += 1
        if _cut_texts(shown, room):
            fitted: dict[str, Any] = without_empty(shown)
            return fitted
    return None


def _cut_texts(record: dict[str, Any], room: int) -> bool:
    """Cut the longest texts of a record until it has at most some tokens; whether that was
    possible.
    """
    originals: dict[tuple[int, str], str] = {}
    while json_tokens(record) > room:
        texts = [
            (part, *item) for part in _parts(record) for item in part.items() if _can_be_cut(*item)
        ]
        if not texts:
            return False
        part, name, value = max(texts, key=lambda text: len(text[2]))
        original = originals.setdefault((id(part), name), value)
        part[name] = cut_to(original, min(len(value) // 2, room * _LONGEST_TOKEN))
    return True


def fit_record(holder: dict[str, Any], name: str, room: int) -> int:
    """Cut the record that is a value of an object to some tokens, or remove it; returns its
    tokens.
    """
    fitted = cut_record(holder[name], room, newest_notes=True)
    if fitted is None:
        del holder[name]
        return 0
    holder[name] = fitted
    return json_tokens(fitted)


def _can_be_cut(name: str, value: object) -> bool:
    return (
        isinstance(value, str)
        and len(value) > 2 * _SHORTEST_CUT
        and not name.endswith("entity_key")
    )


def _parts(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _parts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _parts(item)


def _tokens_of(piece: re.Match[str]) -> int:
    length = len(piece.group())
    if piece.lastgroup == "letters":
        return -(-length // _LETTERS_OF_A_TOKEN)
    if piece.lastgroup == "digits":
        return -(-length // _DIGITS_OF_A_TOKEN)
    return 2 if piece.lastgroup == "other" else 1
