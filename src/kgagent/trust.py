"""How far a call, and what it writes, is trusted."""

from typing import Literal

from kgagent.errors import InputError

Trust = Literal["own", "known", "unknown"]
"""Who speaks: the user or the host program, somebody whom they know, or anybody."""

TRUSTS: tuple[Trust, ...] = ("unknown", "known", "own")
"""The classes, the lowest first."""

OWN: Trust = "own"
"""The class of what is stored without one."""

UNKNOWN: Trust = "unknown"

TRUST_CLASS = "trust_class"
"""The property of a record with the class of its words."""


def level(trust: Trust | None) -> int:
    """The class as a number, 0 to 2; None is the highest."""
    return TRUSTS.index(trust or OWN)


def lower(*classes: Trust) -> Trust:
    """The lowest of some classes."""
    return min(classes, key=level)


def read_trust(stored: object) -> Trust:
    """A stored class; a value that is none is not trusted."""
    return next((one for one in TRUSTS if one == (stored or OWN)), UNKNOWN)


def stored_trust(trust: Trust) -> Trust | None:
    """The class as it is stored: the highest is absent."""
    return None if trust == OWN else trust


def not_changed(what: str, stored: Trust, trust: Trust) -> str:
    """Says that a call left something as it is, as that is of a higher class."""
    return (
        f"Not changed: {what}; this is of class {stored} and the call only of class {trust}. The "
        f"host can write it with class {stored}"
    )


def given_trust(trust: str | None) -> Trust | None:
    """The class that a host gives, if it gives one.

    Raises:
        InputError: there is no such class.
    """
    for one in (None, *TRUSTS):
        if trust == one:
            return one
    raise InputError(f"trust must be own, known or unknown, got {trust!r}")
