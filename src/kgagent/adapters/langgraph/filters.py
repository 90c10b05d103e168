"""The filters of LangGraph's stores, which compare fields of values."""

from collections.abc import Callable, Mapping
from typing import Any

from kgagent.errors import InputError

_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda stored, given: stored > given,
    "$gte": lambda stored, given: stored >= given,
    "$lt": lambda stored, given: stored < given,
    "$lte": lambda stored, given: stored <= given,
}
_OPERATORS = ("$eq", "$ne", *_ORDER)


def check_filter(wanted: Mapping[str, Any]) -> None:
    """Check a filter.

    Raises:
        InputError: an operator is unknown.
    """
    for field, condition in wanted.items():
        if not isinstance(condition, Mapping):
            continue
        if any(str(name).startswith("$") for name in condition):
            unknown = next((name for name in condition if name not in _OPERATORS), None)
            if unknown is not None:
                known = ", ".join(_OPERATORS)
                raise InputError(f"filter on {field!r}: unknown operator {unknown!r}; use {known}")
        else:
            check_filter(condition)


def accepts(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether the fields of a value satisfy all conditions; see `langgraph.store.base.SearchOp`."""
    return all(_satisfies(value.get(field), condition) for field, condition in wanted.items())


def _satisfies(stored: object, condition: object) -> bool:
    if isinstance(condition, Mapping):
        if any(str(name).startswith("$") for name in condition):
            return all(_compare(stored, name, given) for name, given in condition.items())
        return isinstance(stored, Mapping) and accepts(stored, condition)
    if isinstance(condition, list | tuple):
        return isinstance(stored, list) and len(stored) == len(condition) and all(map(_satisfies, stored, condition))
    return stored == condition


def _compare(stored: object, operator: str, given: object) -> bool:
    if operator == "$eq":
        return stored == given
    if operator == "$ne":
        return stored != given
    return any(isinstance(stored, kind) and isinstance(given, kind) for kind in (int | float, str)) and _ORDER[
        operator
    ](stored, given)
