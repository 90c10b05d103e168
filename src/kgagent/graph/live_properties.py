"""Summarizes the properties of nodes or relationships for the live schema: kinds of their values, and examples."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from typing import TypeVar

from kgagent.graph.identifiers import Identifier
from kgagent.graph.store import Row
from kgagent.models.live_schema import LiveProperty, ValueKind

MAX_EXAMPLES = 5
VOCABULARY = "relationship_type"
"""The property whose texts are always given as examples: the free types of relationships."""

MAX_WORDS = 20
"""Maximum number of examples of the vocabulary."""

_KEY = "entity_key"
_KINDS = (
    ("INTEGER", ValueKind.NUMBER),
    ("FLOAT", ValueKind.NUMBER),
    ("BOOLEAN", ValueKind.BOOLEAN),
    ("LIST", ValueKind.LIST),
    *((name, ValueKind.DATE_TIME) for name in ("DATE", "ZONED", "LOCAL", "DURATION")),
)


def summarize_properties(
    names: Iterable[str], values: Iterable[Row], *, hidden: Collection[str], most_texts: int
) -> tuple[LiveProperty, ...]:
    """Summarize properties.

    Args:
        names: names of all properties.
        values: rows of `_live_values.cypher`.
        hidden: properties to omit, besides embeddings.
        most_texts: maximum number of different texts of a property with examples; the rows hold one more.
    """
    seen: defaultdict[str, _Values] = defaultdict(_Values)
    for name in names:
        if name not in hidden and not name.lower().endswith("embedding") and Identifier.can_be(name):
            _ = seen[name]
    for row in values:
        seen[row["name"]].add(row["kind"], row["times"], row["texts"])
    return tuple(seen[name].to_model(name, most_texts) for name in sorted(seen) if Identifier.can_be(name))


class _Values:
    """The values of a property."""

    def __init__(self) -> None:
        self._kinds: Counter[ValueKind] = Counter()
        self._texts: Counter[str] = Counter()
        self._is_free = False

    def add(self, kind: str, times: int, texts: Iterable[tuple[str | None, int]]) -> None:
        if kind == "JSON":
            # Properties with JSON are rarely a choice among few texts, so they get no examples.
            self._is_free = True
            for text, found in texts:
                self._kinds[ValueKind.JSON if _is_json(text) else ValueKind.TEXT] += found
            return
        self._kinds[_kind(kind)] += times
        for text, found in texts if kind == "STRING" else ():
            if text is None:
                self._is_free = True
            else:
                self._texts[text] += found

    def to_model(self, name: str, most_texts: int) -> LiveProperty:
        texts = _by_frequency(self._texts)
        if name == VOCABULARY:
            examples = texts[:MAX_WORDS]
        else:
            examples = texts[:MAX_EXAMPLES] if name != _KEY and self._is_choice(most_texts) else []
        return LiveProperty(name=name, kinds=tuple(_by_frequency(self._kinds)), examples=tuple(examples))

    def _is_choice(self, most_texts: int) -> bool:
        """Whether its texts look like a choice among few: short, and either very few or often repeated."""
        if self._is_free or len(self._texts) > most_texts:
            return False
        return len(self._texts) <= MAX_EXAMPLES or self._texts.total() >= 2 * len(self._texts)


def _kind(value_type: str) -> ValueKind:
    if value_type == "STRING":
        return ValueKind.TEXT
    return next((kind for name, kind in _KINDS if value_type.startswith(name)), ValueKind.OTHER)


def _is_json(text: str | None) -> bool:
    """Whether a text is a JSON object or list; None stands for a text that is too long to check."""
    try:
        return text is not None and isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


NameT = TypeVar("NameT", bound=str)


def _by_frequency(counts: Counter[NameT]) -> list[NameT]:
    return sorted(counts, key=lambda name: (-counts[name], name))
