"""When what held ends because something else begins, in EDTF."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import date, timedelta

from kgagent.models.when import OPEN_START, day_number, period_of, split_periods


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


def ended(periods: Iterable[str], begin: int, until: str, again: Iterable[str] = ()) -> str:
    """The periods of something after its end.

    Args:
        periods: the periods before; those that begin after it ended stay.
        begin: the day on which what took its place began.
        until: when it ends.
        again: days on which it is known to hold again, in EDTF.
    """
    last, kept = period_of(until).latest, []
    for text in periods:
        period = period_of(text)
        if period.latest <= last or period.earliest > begin:
            kept.append(text)
            continue
        if period.earliest <= last:
            start = begin_of(text)
            kept.append(until if start == until else f"{start}/{until}")
        back = [day for day in again if begin < period_of(day).earliest <= period.latest]
        if back:
            day = min(back, key=period_of)
            kept.append(f"{begin_of(day)}/{text.partition('/')[2] or '..'}")
    return "; ".join(kept) or f"../{until}"


def joined(periods: Iterable[str]) -> str:
    """The periods of what is told several times: those that overlap become one."""
    found: list[str] = []
    for text in sorted({*periods}, key=period_of):
        if not found or not period_of(found[-1]).overlaps(period_of(text)):
            found.append(text)
        elif period_of(text).latest > period_of(found[-1]).latest:
            is_set = text[0] in "[{"
            end = day_text(period_of(text).latest) if is_set else text.rpartition("/")[2]
            found[-1] = f"{begin_of(found[-1])}/{end}"
    return "; ".join(found)


def _date(day: int) -> date:
    return date(day // 10_000, day // 100 % 100, day % 100)
