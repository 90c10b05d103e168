"""Checks the size of data from callers before it is processed, which takes longer the larger the data is."""

from collections.abc import Collection, Mapping

from kgagent.errors import InputError

MAX_DEPTH = 40
"""Levels of lists and objects in one another."""

MAX_FIELDS = 200
"""Fields of one object; each unknown one is an error to describe."""

_PLAIN = frozenset({str, int, float, bool, type(None)})


def check_size(data: object, *, max_values: int, noun: str) -> None:
    """Check that data has not too many values, at any depth, no object too many fields, and that it is not too deep.

    Args:
        data: JSON types.
        max_values: maximum number of items of lists and fields of objects, at all levels together.
        noun: what the data is, for the error.

    Raises:
        InputError: it is too large; the text says what was allowed and what was given.
    """
    count = 0
    level: list[object] = [data]
    for _ in range(MAX_DEPTH + 1):
        inner: list[object] = []
        for value in level:
            if type(value) in _PLAIN:
                continue
            found = _inside(value)
            count += len(found)
            if isinstance(value, Mapping) and len(value) > MAX_FIELDS:
                raise InputError(f"{noun} may have at most {MAX_FIELDS:,} fields in one object, got {len(value):,}")
            if count > max_values:
                given = f"a list of {len(found):,}" if len(found) > max_values else f"at least {count:,}"
                raise InputError(f"{noun} may have at most {max_values:,} values, got {given}. Split it")
            inner.extend(found)
        if not inner:
            return
        level = inner
    raise InputError(f"{noun} may be nested at most {MAX_DEPTH} levels deep, got more. Flatten it")


def _inside(value: object) -> Collection[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple | set | frozenset) else ()
