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


def lower(one: Trust, other: Trust) -> Trust:
    """The lower of two classes."""
    return min(one, other, key=level)


def read_trust(stored: object) -> Trust:
    """A stored class; a value that is none is not trusted."""
    return next((one for one in TRUSTS if one == (stored or OWN)), UNKNOWN)


def stored_trust(trust: Trust) -> Trust | None:
    """The class as it is stored: the highest is absent."""
    return None if trust == OWN else trust


def check_trust(trust: str) -> Trust:
    """Check a class that a host gives.

    Raises:
        InputError: there is no such class.
    """
    for one in TRUSTS:
        if trust == one:
            return one
    raise InputError(f"trust must be own, known or unknown, got {trust!r}")


def given_trust(trust: str | None) -> Trust | None:
    """The class that a host gives, if it gives one.

    Raises:
        InputError: there is no such class.
    """
    return None if trust is None else check_trust(trust)
