"""Dates and times as text: whether the database can convert one."""

import calendar
import re

_DATE = r"(?P<year>[0-9]{4}|[+-][0-9]{1,9})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12][0-9]|3[01])"
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?"
_OFFSET = r"(?:Z|[+-](?:(?:0[0-9]|1[0-7]):[0-5][0-9](?::[0-5][0-9])?|18:00(?::00)?))"
_ZONE = r"(?:\[[A-Za-z0-9_/+~.:-]{1,100}\])?"

_FORMS = {
    name: re.compile(pattern)
    for name, pattern in {
        "date": _DATE,
        "local_time": _TIME,
        "time": _TIME + _OFFSET,
        "local_datetime": f"{_DATE}T{_TIME}",
        "datetime": f"{_DATE}T{_TIME}{_OFFSET}{_ZONE}",
    }.items()
}


def is_time_text(text: str, kind: str) -> bool:
    """Whether a text is a date or a time as the database prints it.

    Only the database knows the names of its time zones.

    Args:
        text: the text.
        kind: "date", "time", "local_time", "datetime" or "local_datetime".
    """
    found = _FORMS[kind].fullmatch(text)
    if found is None:
        return False
    parts = found.groupdict()
    if not parts:
        return True
    # The calendar repeats itself after 400 years, and Python has none of the years before 1 and after 9999.
    _, days = calendar.monthrange(2000 + int(parts["year"]) % 400, int(parts["month"]))
    return int(parts["day"]) <= days
