"""Texts that a search gives to a model: their tokens, and which evidence their beginning contains."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from _questions import Triple

from kgagent.models.token_budget import estimated_tokens

_WORD = re.compile(r"\S+|\n")
_RECORD_ENDS = re.compile(r"[{}]")


class AnswerText:
    """A text, with the number of tokens up to the end of each word.

    Attributes:
        text: the text.
        tokens: estimated number of tokens of all of it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        words = list(_WORD.finditer(text))
        self._ends = [word.end() for word in words]
        self._tokens = list(accumulate(estimated_tokens(word.group()) for word in words))
        self.tokens = self._tokens[-1] if words else 0

    def first(self, tokens: int) -> str:
        """The words that fit within the first tokens."""
        fitting = bisect_right(self._tokens, tokens)
        return self.text[: self._ends[fitting - 1]] if fitting else ""


def share_contained(text: str, evidence: Sequence[Triple]) -> float:
    """Share of the triples that a text contains.

    A triple is contained if both names and the relation are in one record: an object of JSON, or a line together with
    the lines that it is indented under.
    """
    records = [_normalized(record) for record in _records(text)]
    return sum(any(_contains(record, triple) for record in records) for triple in evidence) / len(evidence)


def _records(text: str) -> Iterator[str]:
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        if "{" in line:
            yield from _RECORD_ENDS.split(line.replace('\\"', '"'))
            continue
        indent = len(line) - len(line.lstrip())
        while above and above[-1][0] >= indent:
            above.pop()
        above.append((indent, line))
        yield "\n".join(of for _, of in above)


def _contains(record: str, triple: Triple) -> bool:
    return all(_has(record, _normalized(part.replace("_", " "))) for part in triple)


def _has(record: str, words: str) -> bool:
    found = record.find(words)
    while found >= 0:
        before, after = record[found - 1 : found], record[found + len(words) : found + len(words) + 1]
        if not (before.isalnum() or after.isalnum()):
            return True
        found = record.find(words, found + 1)
    return False


def _normalized(text: str) -> str:
    return " ".join(text.lower().split())
