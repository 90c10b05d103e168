"""When a statement happened or held: text in the Extended Date/Time Format (EDTF, level 1 of ISO
8601-2).

Several periods are separated by semicolons: "2019/2021; 2024/..".
"""

import re
from calendar import monthrange
from collections.abc import Iterable, Mapping, Sequence
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


_DATE = re.compile(
    r"""[?~%]?(?P<year>[0-9X]{4})
    (?:-[?~%]?(?P<month>[0-9X]{2})(?:-[?~%]?(?P<day>[0-9X]{2})(?:T[0-9:.+\-Z]+)?)?)?[?~%]?""",
    re.VERBOSE,
)
"""A date with qualifiers; `X` is a digit that is not known. A time of day is not needed."""

_SEASONS = {21: (3, 5), 22: (6, 8), 23: (9, 11), 24: (12, 12)}
"""First and last month of spring, summer, autumn and winter; the winter of a year ends with it."""


@lru_cache(maxsize=10_000)
def period_of(when: str) -> Period:
    """Read one period: a date, an interval, or a set such as "[2019, 2021..2023]".

    The sources of the forms are levels 0 and 1 of EDTF, and of level 2 sets and qualifiers before
    a part of a date.

    Raises:
        ValueError: it is no EDTF of the years 1 to 9999.
    """
    if when[:1] + when[-1:] in {"[]", "{}"}:
        parts = [_bounds(part.strip(), "..", when) for part in when[1:-1].split(",")]
        period = Period(min(part.earliest for part in parts), max(part.latest for part in parts))
    else:
        period = _bounds(when, "/", when)
    if period.earliest > period.latest:
        raise ValueError(f"must not end before it begins, got {when!r}")
    return period


def _bounds(text: str, between: str, when: str) -> Period:
    """The days of a date, or of the two that a sign stands between."""
    start, sign, end = text.partition(between)
    if not sign:
        return _days(start, when)
    open_end = ".." if between == "/" else ""
    earliest = OPEN_START if start == open_end else _days(start, when).earliest
    return Period(earliest, OPEN_END if end == open_end else _days(end, when).latest)


def _days(text: str, when: str) -> Period:
    """The first and the last day that a date can mean."""
    wrong = ValueError(f"must be a date or a period such as {WHEN_FORM}, got {when!r}")
    found = _DATE.fullmatch(text)
    if found is None:
        raise wrong
    year, month, day = found["year"], found["month"] or "XX", found["day"] or "XX"
    first_year, last_year = _numbers(year, 1, 9999)
    first_month, last_month = _numbers(month, 1, 12)
    if not found["day"]:
        first_month, last_month = _SEASONS.get(first_month, (first_month, last_month))
    try:
        first = date(first_year, first_month, _numbers(day, 1, 31)[0])
        length = monthrange(last_year, last_month)[1]
        last = date(last_year, last_month, _numbers(day, 1, length)[1])
    except ValueError:
        raise wrong from None
    return Period(day_number(first), day_number(last))


def _numbers(digits: str, least: int, most: int) -> tuple[int, int]:
    """The least and the greatest number that digits of which some are unknown can mean."""
    low, high = int(digits.replace("X", "0")), int(digits.replace("X", "9"))
    return (max(low, least), min(high, most)) if "X" in digits else (low, high)


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
    to the others. One without a beginning is the end of the last one that had begun by then.

    Raises:
        InputError: it would be too long.
    """
    old = {text: period for text in split_periods(stored) for period in periods_of(text)}
    new = [_with_beginning(text, old) for text in split_periods(given)]
    told = periods_of("; ".join(new))
    kept = [text for text, period in old.items() if not overlaps(told, period)]
    when = "; ".join(sorted({*kept, *new}, key=period_of))
    if len(when) > max(MAX_LENGTH, len(given)):
        raise InputError(
            f"when may have at most {MAX_LENGTH} characters, but {given!r} with {stored!r} has "
            f"{len(when)}; give all "
            "periods in fewer, with correction"
        )
    return when


def _with_beginning(given: str, stored: Mapping[str, Period]) -> str:
    """A period without a beginning, with that of the last stored one that had begun by its end."""
    start, _, end = given.partition("/")
    begun = [
        (period, text)
        for text, period in stored.items()
        if OPEN_START < period.earliest <= period_of(given).latest and text[0] not in "[{"
    ]
    return f"{max(begun)[1].partition('/')[0]}/{end}" if start == ".." and begun else given


def is_extended_when(stored: str, changed: str) -> bool:
    """Whether a text has all periods of a stored one."""
    return set(split_periods(stored)) <= set(split_periods(changed))


def first_day(when: object) -> int | None:
    """The first day of the first period of a text; None without a time."""
    return next((period.earliest for period in periods_of(when)), None)


def last_day(when: object) -> int:
    """The last day of a text; of one without a time, and of one without an end, 99991231."""
    return max((period.latest for period in periods_of(when)), default=OPEN_END)


def is_past(when: object, day: int, said_on: object = None) -> bool:
    """Whether what a text dates had ended before a day, such as 20230204.

    An event of one day does not last, so that it does not end either, and whether a plan was
    carried out is not known.

    Args:
        when: its periods.
        day: the day.
        said_on: when it was said, in EDTF: before it began, it was a plan.
    """
    periods = periods_of(when)
    is_plan = last_day(said_on) < (first_day(when) or OPEN_START)
    return not is_plan and last_day(when) < day and not _is_event(periods)


def holds(when: object, day: int) -> bool:
    """Whether what a text dates holds on a day, such as 20230204; an event of one day does from
    then on, and what has no time always does.
    """
    periods = periods_of(when)
    if _is_event(periods):
        return min(periods).earliest <= day
    return not periods or overlaps(periods, Period(day, day))


def _is_event(periods: Sequence[Period]) -> bool:
    return bool(periods) and all(period.earliest == period.latest for period in periods)


def day_of_question(as_of: Period | None, now: datetime) -> int:
    """The day on which a question judges what is past: the first one of `as_of`, else today."""
    return day_number(now) if as_of is None else as_of.earliest


def with_time(text: str, when: str | None, day: int, said_on: object = None) -> str:
    """A text with its time, if it has one: "Ada CEO of Acme (2015/2018, past)"; see `is_past`."""
    return f"{text} ({time_text(when, day, said_on)})" if when else text


def time_text(when: str, day: int, said_on: object = None) -> str:
    """A time as an answer of a day says it: "2015/2018, past" or "from 2031"; see `is_past`."""
    if is_past(when, day, said_on):
        return f"{when}, past"
    is_ahead = (first_day(when) or OPEN_START) > day and when.endswith("/..")
    return f"from {beginning(when)}" if is_ahead else when


def beginning(when: str) -> str | None:
    """The date at which the first period of a text begins; None if that is not known."""
    first = next(iter(split_periods(when)), "..").partition("/")[0]
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
