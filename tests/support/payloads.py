"""Checks of what tools return, and of what they must never return."""

import json
from collections.abc import Iterator
from typing import Any

from kgagent.tools import Payload
from tests.support import facts

WHERE_KEYS_ARE = (
    ". explore and hybrid_search return the entity_key of a node, and remember creates nodes"
)
"""What an error adds where a key is no node's."""

_INTERNAL = {
    "version",
    "write_lock",
    "relationship_key",
    "embedding_hash",
    "embedding_model",
    "user_id",
    "element_id",
}


def succeeded(payload: Payload) -> Payload:
    """Check that a tool did its work, and that its answer holds nothing that it must not."""
    assert payload.get("success") is True, payload
    assert isinstance(payload["message"], str)
    assert "error" not in payload
    assert_nothing_hidden(payload)
    return payload


def error_of(payload: Payload) -> str:
    """The error of a tool that refused; it is one line that a model can read."""
    assert payload.get("success") is False, payload
    error = payload["error"]
    assert isinstance(error, str)
    assert error
    assert error.isprintable()
    assert len(error) <= 2_000
    assert_nothing_hidden(payload)
    return error


def assert_nothing_hidden(payload: Payload) -> None:
    """Walk all of an answer: JSON types, no internal field at any depth, no vector, no empty list
    inside a record.
    """
    json.dumps(payload, allow_nan=False).encode()
    for path, key, value in _walk(payload, ()):
        assert key not in facts.NEVER_RETURNED | _INTERNAL, path
        assert not (
            isinstance(value, list) and len(value) > 2 and all(isinstance(x, float) for x in value)
        ), path
        if len(path) > 1:
            assert value not in ([], {}, None), path
    text = payload.get("text")
    if isinstance(text, str):
        assert not any(f"{name}:" in text or f"'{name}'" in text for name in facts.NEVER_RETURNED)


def _walk(value: Any, path: tuple[object, ...]) -> Iterator[tuple[tuple[object, ...], object, Any]]:
    items: Any = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        yield (*path, key), key, item
        yield from _walk(item, (*path, key))
