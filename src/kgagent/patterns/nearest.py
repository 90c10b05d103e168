"""Which of the names that exist was probably meant."""

import difflib
from collections.abc import Collection

MOST_LISTED = 20
LONGEST_NAME = 80
"""Characters of a name that a text shows, and that names are compared by."""


def nearest(name: str, existing: Collection[str]) -> list[str]:
    """The names that are most like one, at most three; letter case and punctuation do not count."""
    by_key: dict[str, list[str]] = {}
    for known in sorted(existing):
        by_key.setdefault(_key(known), []).append(known)
    close = difflib.get_close_matches(_key(name), by_key, n=3, cutoff=0.6)
    return [known for key in close for known in by_key[key]][:3]


def meant(name: str, existing: Collection[str]) -> str:
    """A question for the nearest names; empty where none is near."""
    close = nearest(name, existing)
    return f"Did you mean {' or '.join(map(shown, close))}?" if close else ""


def listed(existing: Collection[str]) -> str:
    """Names in a row, the first of them where they are many."""
    names = sorted(existing)
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return ", ".join(map(shown, names[:MOST_LISTED])) + more if names else "none"


def shown(name: str) -> str:
    """A name, cut where it is very long."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."


def _key(name: str) -> str:
    return "".join(c for c in name[:LONGEST_NAME].casefold() if c.isalnum())
