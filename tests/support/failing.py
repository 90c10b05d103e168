"""A database that fails at one statement."""

import pytest

from kgagent.errors import StoreError
from kgagent.graph.statements import Statement
from kgagent.graph.store import Store


def fail_at(monkeypatch: pytest.MonkeyPatch, store: Store, method: str, name: str) -> None:
    """Have a store's `read` or `write` fail at the statement of a name, until the test ends."""
    run = getattr(store, method)

    async def failing(text: str, *arguments: object, **options: object) -> object:
        if isinstance(text, Statement) and text.name == name:
            raise StoreError("The disk is full")
        return await run(text, *arguments, **options)

    monkeypatch.setattr(store, method, failing)
