"""Items that programs store beside the graph of a user, as they are written, searched and read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Namespace = tuple[str, ...]

SEPARATOR = "."
"""Ends each label of a namespace in the stored path, and is part of no label."""


@dataclass(frozen=True)
class ItemPlace:
    """Where an item is: a namespace, one label for each level, and a key in it."""

    namespace: Namespace
    key: str

    @property
    def path(self) -> str:
        """The namespace as one text, which begins with the text of its parent namespace."""
        return path_of(self.namespace)

    @property
    def parameters(self) -> dict[str, str]:
        """The place as statements take it."""
        return {"path": self.path, "key": self.key}


@dataclass(frozen=True, kw_only=True)
class NewItem:
    """An item to store.

    Attributes:
        place: namespace and key.
        value: JSON.
        texts: texts by which searches find it, each with its own embedding.
        ttl_minutes: minutes from the last write or read until the item expires; None: it never
            expires.
    """

    place: ItemPlace
    value: str
    texts: Sequence[str] = ()
    ttl_minutes: float | None = None


@dataclass(frozen=True, kw_only=True)
class StoredItem:
    """An item that was read.

    Attributes:
        place: namespace and key.
        value: JSON types.
        created_at: when it was first stored.
        updated_at: when it was last stored.
        has_ttl: whether it expires.
        score: plain cosine of the query and its nearest text; None without a query or a text.
    """

    place: ItemPlace
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    has_ttl: bool
    score: float | None = None


@dataclass(frozen=True, kw_only=True)
class ItemSearch:
    """A search for items.

    Attributes:
        prefix: first labels of the namespaces.
        vector: embedding to rank by; None lists the newest first.
        accepts: whether a value may be a result; None accepts all.
        offset: number of results to skip.
        limit: maximum number of results.
    """

    prefix: Namespace = ()
    vector: Sequence[float] | None = None
    accepts: Callable[[dict[str, Any]], bool] | None = None
    offset: int = 0
    limit: int = 10


def path_of(namespace: Namespace) -> str:
    """A namespace as one text."""
    return "".join(f"{label}{SEPARATOR}" for label in namespace)
