"""When a statement happened or held: text in the Extended Date/Time Format (EDTF, level 1 of ISO
8601-2).

Several periods are separated by semicolons: "2019/2021; 2024/..".
"""

from collections.abc import Iterable
from contextlib import suppress
from datetime import date, datetime
from functools import lru_cache
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field, StringConstraints

from kgagent.errors import InputError

WHEN_FORM = "2023-02-04, 2023-02, 2023, 2023~ (about), 2019/2021 or 2024/.. (EDTF)"
"""What an error shows."""

MAX_LENGTH = 200
"""Characters of all periods of a relationship."""

OPEN_START, OPEN_END = 0, 99_991_231
ABOUT = "about "


class Period(NamedTuple):
    """The days from the first to the last one that a text can mean, as numbers such as 20230204.

    Attributes:
        earliest: the first day; 0 without a beginning.
        latest: the last day; 99991231 without an end.
    """

    earliest: int
    latest: int

    def overlaps(self, other: "Period") -> bool:
        """Whether the two have a day in common."""
        return self.earliest <= other.latest and other.earliest <= self.latest


@lru_cache(maxsize=10_000)
def period_of(when: str) -> Period:
    """Read a text.

    Raises:
        ValueError: it is no EDTF of the years 1 to 9999.
    """
    # Most times are days, of which there are too many for a grammar that takes milliseconds for
    # each.
    with suppress(ValueError):
        day = date.fromisoformat(when)
        if str(day) == when:
            return Period(day_number(day), day_number(day))
    # Imported here, because its grammar takes 0.1 s to build.
    from edtf import parse_edtf
    from edtf.parser.edtf_exceptions import EDTFParseException

    wrong = ValueError(f"must be a date or a period such as {WHEN_FORM}, got {when!r}")
    if when.startswith("/") or when.endswith("/"):
        raise wrong
    try:
        parsed = parse_edtf(when)
        ends = zip(
            (parsed.lower_strict(), parsed.upper_strict()), (OPEN_START, OPEN_END), strict=True
        )
        # The grammar accepts years that `date` does not have, and 29 February of any year.
        earliest, latest = (
            unknown if isinstance(end, float) else day_number(date(*end[:3]))
            for end, unknown in ends
        )
    except (EDTFParseException, ValueError, TypeError, AttributeError):
        raise wrong from None
    if earliest > latest:
        raise ValueError(f"must not end before it begins, got {when!r}")
    return Period(earliest, latest)


def split_periods(when: str) -> list[str]:
    """The periods that a text lists: "2019/2021; 2024/.." has two."""
    return [period for part in when.split(";") if (period := part.strip())]


def periods_of(when: object) -> tuple[Period, ...]:
    """The periods of a stored text; none if there is no text, or if another program stored an
    invalid one.
    """
    if not isinstance(when, str):
        return ()
    try:
        return tuple(map(period_of, split_periods(when)))
    except ValueError:
        return ()


def overlaps(periods: Iterable[Period], other: Period) -> bool:
    """Whether one of some periods has a day in common with another period."""
    return any(period.overlaps(other) for period in periods)


def with_periods(stored: str, given: str) -> str:
    """The periods of two texts: a given one replaces the stored ones that it overlaps, and is added
    to the others.

    Raises:
        InputError: it would be too long.
    """
    new = split_periods(given)
    kept = [
        old
        for old in split_periods(stored)
        if (known := periods_of(old)) and not overlaps(periods_of(given), *known)
    ]
    when = "; ".join(sorted({*kept, *new}, key=period_of))
    if len(when) > max(MAX_LENGTH, len(given)):
        raise InputError(
            f"when may have at most {MAX_LENGTH} characters, but {given!r} with {stored!r} has "
            f"{len(when)}; give all "
            "periods in fewer, with correction"
        )
    return when


def is_extended_when(stored: str, changed: str) -> bool:
    """Whether a text has all periods of a stored one."""
    return set(split_periods(stored)) <= set(split_periods(changed))


def is_past(when: str | None, now: datetime) -> bool:
    """Whether all periods of a text have ended."""
    periods = periods_of(when)
    return bool(periods) and max(period.latest for period in periods) < day_number(now)


def beginning(when: str) -> str | None:
    """The date at which the first period of a text begins; None if that is not known."""
    first = split_periods(when)[0].partition("/")[0]
    return None if first == ".." else first


def day_number(day: date) -> int:
    """A day as a number such as 20230204."""
    return day.year * 10_000 + day.month * 100 + day.day


def _checked(when: str) -> str:
    """A text in EDTF; "about" before a date is the sign after it."""
    texts = [
        f"{text[len(ABOUT) :].strip()}~" if text.lower().startswith(ABOUT) else text
        for text in split_periods(when) or [when]
    ]
    for text in texts:
        period_of(text)
    return "; ".join(texts)


def _checked_period(when: str) -> str:
    checked = _checked(when)
    period_of(checked)
    return checked


_GivenText = Annotated[
    str,
    Field(coerce_numbers_to_str=True),
    StringConstraints(strip_whitespace=True, min_length=1, max_length=100),
]
"""What a caller gives; a year may be a number."""

When = Annotated[_GivenText, AfterValidator(_checked)]
"""Text in EDTF, of one or several periods."""

WhenPeriod = Annotated[_GivenText, AfterValidator(_checked_period)]
"""Text in EDTF, of one period."""
