"""Notes on nodes and relationships, and the JSON string in which they are stored."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    ValidationError,
    model_serializer,
)

from kgagent.models.when import OPEN_START, Period, day_number, first_day, periods_of
from kgagent.trust import OWN, Trust, read_trust


def utc_now() -> datetime:
    """The present time in UTC."""
    return datetime.now(UTC)


def as_utc(moment: datetime) -> datetime:
    """Convert a time to UTC; a time without zone is read as UTC.

    Raises:
        ValueError: the time is out of range in UTC.
    """
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"the time is out of range in UTC: {moment}") from None


def format_utc(moment: datetime) -> str:
    """A time as results contain it: ISO 8601 in UTC with a Z, and microseconds if it has any.

    Raises:
        ValueError: the time is out of range in UTC.
    """
    return as_utc(moment).isoformat().replace("+00:00", "Z")


UtcTime = Annotated[datetime, AfterValidator(as_utc)]


LONG_AGO = datetime.min.replace(tzinfo=UTC)

_STORED = {"is_stored": True}
"""The context in which notes are written as they are stored."""


class Note(BaseModel):
    """A dated statement about a node or a relationship.

    Attributes:
        content: the statement.
        added_by: user id of the author; "unknown" in old graphs that did not store it.
        when: when it happened or held, in EDTF; None if that is not known. See
            `kgagent.models.when`.
        said_on: when it was said, in EDTF; None if that is not known. Answers have it if it differs
            from `when`.
        date_added: when it was added; None in old graphs that did not store it.
        source_entity_key: entity_key of what it comes from, usually a Source node; any text is
            stored as given.
        quote: the words of the source that say it; None if they are not known.
        expires_at: when it expires; None if it never does.
        trust: class of the calls that said it, the highest.
    """

    model_config = ConfigDict(frozen=True, extra="allow", coerce_numbers_to_str=True)

    content: str
    when: str | None = None
    said_on: str | None = None
    added_by: str = "unknown"
    date_added: UtcTime | None = None
    source_entity_key: str | None = None
    quote: str | None = None
    expires_at: UtcTime | None = None
    trust: Annotated[Trust, BeforeValidator(read_trust)] = OWN

    @model_serializer(mode="wrap")
    def _with_known_fields(
        self, serialize: SerializerFunctionWrapHandler, info: SerializationInfo
    ) -> dict[str, Any]:
        """The fields of the documents, and the others only if they are known; outside a database
        `said_on` only if it says more than `when`.
        """
        fields: dict[str, Any] = serialize(self)
        if info.context is not _STORED and not self.said_apart:
            fields.pop("said_on", None)
        return {
            name: value
            for name, value in fields.items()
            if value or name not in {"when", "said_on", "quote"}
            if (name, value) != ("trust", OWN)
        }

    @property
    def said_apart(self) -> str | None:
        """When it was said, if it is about another time."""
        return None if self.said_on == self.when else self.said_on

    @property
    def searched_text(self) -> str:
        """The text by which a search finds it."""
        return self.content

    @property
    def identity(self) -> tuple[str, str | None, str | None]:
        """What makes two notes of a record the same note: the statement, its time and its
        source.
        """
        return self.content, self.when, self.source_entity_key

    def order(self) -> tuple[Period, datetime]:
        """Sorts notes by the first day that they can be about, else by that of their addition."""
        added = self.date_added or LONG_AGO
        day = day_number(added) if self.date_added else OPEN_START
        return min(periods_of(self.when), default=Period(day, day)), added

    @property
    def known_since(self) -> int:
        """The day on which it was said, or else added, such as 20230204; 0 if neither is known."""
        added = OPEN_START if self.date_added is None else day_number(self.date_added)
        return first_day(self.said_on) or added

    def is_current(self, now: datetime) -> bool:
        """Whether the note has not expired."""
        return self.expires_at is None or self.expires_at > now


def times_of_note(when: str | None, said_on: str | None) -> dict[str, str | None]:
    """The fields `when` and `said_on` of a note; without a time of its own it is about the time
    when it was said.
    """
    return {"when": when or said_on, "said_on": said_on}


def oldest_first(notes: Iterable[Note]) -> list[Note]:
    """Notes in order of time, when they happened or else were added; those without a time first."""
    return sorted(notes, key=Note.order)


_NOTES = TypeAdapter(tuple[Note, ...])


def parse_notes(stored: object) -> tuple[Note, ...]:
    """Read stored notes: one JSON string, or one of the forms that old graphs use."""
    if stored is None or stored in ("", []):
        return ()
    if isinstance(stored, str):
        with suppress(ValidationError):
            return _NOTES.validate_json(stored)
    # Imported here, because that module needs `Note`.
    from kgagent.models.old_notes import parse_old_notes

    return parse_old_notes(stored)


def dump_notes(notes: Iterable[Note]) -> str:
    """Write notes as one JSON string, the form in which they are stored."""
    return _NOTES.dump_json(tuple(notes), context=_STORED).decode()


def notes_text_at(notes: Iterable[Note], now: datetime) -> str:
    """The contents of the notes that have not expired, joined by one space."""
    return " ".join(note.content for note in notes if note.is_current(now))
