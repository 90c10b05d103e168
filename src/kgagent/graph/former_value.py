"""The return of an earlier value from the history of a record."""

from dataclasses import dataclass
from typing import Any, Literal

from kgagent.errors import NotFoundError
from kgagent.graph.property_names import TRUST
from kgagent.graph.records import Record, plain
from kgagent.models.history import HistoryEntry, has_all_types
from kgagent.names import shorten_name

FormerField = Literal["name", "description", "relationship_type", "attitude", "proximity", "when"]
"""A property whose earlier values are kept."""

MAX_LISTED = 5
"""Earlier values that an error lists."""


@dataclass(frozen=True)
class FormerValue:
    """An earlier value that a record gets again.

    Attributes:
        field: the property.
        value: the beginning of the value; None is the one that was replaced last.
    """

    field: FormerField
    value: str | None = None

    def values(self, stored: Record) -> dict[str, Any]:
        """The properties to write, with the class of the value; a type that was replaced returns
        with its period.

        Raises:
            NotFoundError: the history has no such value.
        """
        entry = self._find(stored)
        is_type = entry.field == "relationship_type" and not entry.corrected
        if is_type and not has_all_types(stored.properties.get("relationship_type"), entry.value):
            return {entry.field: entry.value, "when": entry.when, TRUST: entry.trust}
        return {entry.field: entry.value, TRUST: entry.trust}

    def _find(self, stored: Record) -> HistoryEntry:
        present = plain(stored.properties.get(self.field)) or None
        earlier = [
            entry
            for entry in stored.history
            if entry.field == self.field and (entry.value or None) != present
        ]
        wanted = (self.value or "").removesuffix("…")
        found = [entry for entry in earlier if str(entry.value or "").startswith(wanted)]
        if found:
            return found[-1]
        texts = [repr(shorten_name(str(entry.value))) for entry in earlier if entry.value]
        listed = "; ".join(dict.fromkeys(texts[-MAX_LISTED:]))
        begins = f" that begins with {shorten_name(wanted)!r}" if wanted else ""
        raise NotFoundError(
            ". Its earlier values: ".join(
                filter(None, (f"The history has no other {self.field}{begins}", listed))
            )
        )
