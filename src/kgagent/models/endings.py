"""When what held ends because something else begins, in EDTF."""

from contextlib import suppress
from datetime import date, timedelta

from kgagent.models.when import OPEN_START, day_number, period_of, periods_of, split_periods


def day_text(day: int) -> str:
    """A day as EDTF: "2023-02-04" for 20230204."""
    return f"{day // 10_000:04}-{day // 100 % 100:02}-{day % 100:02}"


def begin_of(period: str) -> str:
    """The date at which a period begins; ".." without a beginning."""
    if period[0] not in "[{":
        return period.partition("/")[0]
    first = period_of(period).earliest
    return day_text(first) if first != OPEN_START else ".."


def has_end(period: str) -> bool:
    """Whether a period says when it ended; a date alone says when it began."""
    return "/" in period or period[0] in "[{"


def opened(when: str) -> str:
    """The periods of what holds until something else takes its place: a last one that is only a
    date is its beginning.
    """
    *others, last = split_periods(when)
    return "; ".join([*others, last if has_end(last) else f"{last}/.."])


def end_before(begin: str, known: int) -> str | None:
    """When something ends that had its end when something else began.

    It is the date of the beginning in its own precision, "2024-05", if that is over by the day on
    which it is known. Otherwise it is the last day on which the other may not have begun.

    Args:
        begin: when the other began.
        known: the day of knowing, such as 20240604.

    Returns:
        The end; None if the beginning is unknown.
    """
    first, last = period_of(begin) if begin != ".." else (0, 0)
    if first < last < known:
        return begin
    with suppress(ValueError, OverflowError):
        day = known if first < known <= last else first
        return day_text(day_number(_date(day) - timedelta(days=1)))
    return None


def ended(when: str, said_on: str, end: str) -> str:
    """The periods of something after its end.

    Args:
        when: the periods before.
        said_on: when it was first said, which is its beginning without a period; may be empty.
        end: when it ends.
    """
    last = period_of(end).latest
    kept = []
    for text in split_periods(when) if periods_of(when) else ():
        period = period_of(text)
        if period.latest <= last:
            kept.append(text)
        elif period.earliest <= last:
            begin = begin_of(text)
            kept.append(end if begin == end else f"{begin}/{end}")
    if kept:
        return "; ".join(kept)
    said = periods_of(said_on) if not when else ()
    return f"{begin_of(said_on)}/{end}" if said and said[0].earliest <= last else f"../{end}"


def _date(day: int) -> date:
    return date(day // 10_000, day // 100 % 100, day % 100)
