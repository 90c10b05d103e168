"""Suggestions for misspelled names."""

import difflib
from collections.abc import Collection

MAX_LISTED = 20
MAX_NAME_LENGTH = 80
"""Characters of a name that messages include and comparisons use."""


def closest_names(name: str, existing: Collection[str]) -> list[str]:
    """The existing names most similar to `name`, at most three; case and punctuation are
    ignored.
    """
    by_key: dict[str, list[str]] = {}
    for known in sorted(existing):
        by_key.setdefault(_key(known), []).append(known)
    close = difflib.get_close_matches(_key(name), by_key, n=3, cutoff=0.6)
    return [known for key in close for known in by_key[key]][:3]


def did_you_mean(name: str, existing: Collection[str]) -> str:
    """The question "Did you mean …?" for similar names; empty if there are none."""
    close = closest_names(name, existing)
    return f"Did you mean {' or '.join(map(shorten_name, close))}?" if close else ""


def list_names(existing: Collection[str]) -> str:
    """A comma-separated list of names, shortened if there are many."""
    names = sorted(existing)
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return ", ".join(map(shorten_name, names[:MAX_LISTED])) + more if names else "none"


def shorten_name(name: str) -> str:
    """The name, truncated if it is very long."""
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 3]}..."


def _key(name: str) -> str:
    return "".join(c for c in name[:MAX_NAME_LENGTH].casefold() if c.isalnum())
