"""When a statement happened or held: text in the Extended Date/Time Format (EDTF, level 1 of ISO 8601-2)."""

from contextlib import suppress
from datetime import date
from functools import lru_cache
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, StringConstraints

WHEN_FORM = "2023-02-04, 2023-02, 2023, 2023~ (about), 2019/2021 or 2024/.. (EDTF)"
"""What an error shows."""

OPEN_START, OPEN_END = 0, 99_991_231
LAST_YEAR = 9_999
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
    # Most times are days, of which there are too many for a grammar that takes milliseconds for each.
    with suppress(ValueError):
        day = date.fromisoformat(when)
        if str(day) == when:
            number = day.year * 10_000 + day.month * 100 + day.day
            return Period(number, number)
    # Imported here, because its grammar takes 0.1 s to build.
    from edtf import parse_edtf
    from edtf.parser.edtf_exceptions import EDTFParseException

    wrong = ValueError(f"must be a date or a period such as {WHEN_FORM}, got {when!r}")
    if when.startswith("/") or when.endswith("/"):
        raise wrong
    try:
        parsed = parse_edtf(when)
        ends = parsed.lower_strict(), parsed.upper_strict()
    except (EDTFParseException, ValueError, TypeError, AttributeError):
        raise wrong from None
    days = []
    for end, unknown in zip(ends, (OPEN_START, OPEN_END), strict=True):
        if isinstance(end, float):
            days.append(unknown)
        elif 1 <= end.tm_year <= LAST_YEAR:
            days.append(end.tm_year * 10_000 + end.tm_mon * 100 + end.tm_mday)
        else:
            raise wrong
    earliest, latest = days
    if earliest > latest:
        raise ValueError(f"must not end before it begins, got {when!r}")
    return Period(earliest, latest)


def known_period(when: object) -> Period | None:
    """The period of a stored text; None if there is none, or if another program stored an invalid one."""
    if not isinstance(when, str) or not when:
        return None
    try:
        return period_of(when)
    except ValueError:
        return None


def _checked(when: str) -> str:
    """A text in EDTF; "about" before a date is the sign after it."""
    if when.lower().startswith(ABOUT):
        when = f"{when[len(ABOUT) :].strip()}~"
    period_of(when)
    return when


When = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), AfterValidator(_checked)]
"""Text in EDTF."""
