"""What each toolkit is measured on; the adapters implement it with the toolkit's own public
functions.

This module and `worker.py` also run in an environment without kgagent.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from neo4j import GraphDatabase

WANTED = 10
"""Results that a search is asked for, if it returns only as many as it is asked for."""

SEARCH, HOPS, USERS, UPDATE = "search", "hops", "users", "update"
AT_ONCE = 1_000
ItemT = TypeVar("ItemT")


@dataclass(frozen=True)
class Fact:
    """All that is known about two entities: one relationship.

    Attributes:
        source: name of the first entity.
        target: name of the second.
        relation: the relation in words.
        text: the fact as a sentence.
        user: owner.
    """

    source: str
    target: str
    relation: str
    text: str
    user: str


@dataclass(frozen=True)
class Question:
    """What a search gets.

    Attributes:
        text: the question.
        user: who asks.
        hops: number of relationships to an answer, for searches that are told it.
    """

    text: str
    user: str
    hops: int = 1


@dataclass(frozen=True)
class Found:
    """The results of a search, best first.

    Attributes:
        pairs: the two names of each relationship; None if the search returns no relationships.
        names: names of nodes; None if it returns no nodes.
        texts: text of each relationship, if the search returns it.
        owners: owner of each relationship, or of each node if there are no relationships.
    """

    pairs: list[tuple[str, str]] | None
    names: list[str] | None
    texts: list[str]
    owners: list[str]


@dataclass(frozen=True)
class Search:
    """A search of a toolkit.

    Attributes:
        run: answers a question.
        parts: the measurements that it takes part in.
    """

    run: Callable[[Question], Awaitable[Found]]
    parts: frozenset[str]


@dataclass(frozen=True)
class Address:
    """A Neo4j server."""

    uri: str
    username: str
    password: str


class Vectors:
    """Embeddings made beforehand, the same for all toolkits; a text without one is an error."""

    def __init__(self, file: Path) -> None:
        """Read a file with the arrays `texts` and `vectors`."""
        kept = np.load(file)
        self._row = {text: row for row, text in enumerate(kept["texts"].tolist())}
        self._vectors = np.asarray(kept["vectors"], np.float32)

    @property
    def dimensions(self) -> int:
        """Length of each embedding."""
        return int(self._vectors.shape[1])

    def of(self, text: str) -> list[float]:
        """The embedding of a text."""
        values: list[float] = self._vectors[self._row[text]].tolist()
        return values


class Toolkit(ABC):
    """A toolkit, connected to a server without data.

    Attributes:
        searches: its searches by name.
        packages: distributions whose versions the page names.
    """

    packages: Sequence[str]
    searches: Mapping[str, Search]

    def __init__(self, where: Address, vectors: Vectors) -> None:
        self.where = where
        self.vectors = vectors
        self.driver = GraphDatabase.driver(
            where.uri, auth=(where.username, where.password), notifications_min_severity="OFF"
        )

    @abstractmethod
    async def open(self) -> None:
        """Connect, and create what writing needs."""

    @abstractmethod
    async def insert(self, fact: Fact) -> None:
        """Write one relationship and its two nodes, with embeddings, in the calls for one fact."""

    @abstractmethod
    async def bulk(self, facts: Sequence[Fact]) -> None:
        """Write many with its functions for many, and create what searching needs."""

    async def update(self, fact: Fact, text: str) -> None:
        """Change the text of a relationship, and its embedding.

        Raises:
            NotImplementedError: no public function does it.
        """
        raise NotImplementedError

    async def stored(self, fact: Fact) -> tuple[str | None, list[float] | None]:  # noqa: ARG002 - some have none
        """The text and the embedding that the server has of a relationship."""
        return None, None

    def embedding_text(self, fact: Fact) -> str:
        """The text whose embedding a relationship should have."""
        return fact.text

    async def prepare_search(self) -> None:
        """What is done once before questions are asked."""
        return

    async def close(self) -> None:
        """Close its connections."""
        self.driver.close()

    def rows(self, text: str, **parameters: Any) -> list[dict[str, Any]]:  # noqa: ANN401
        """Run a statement of ours, outside of all measured times unless an adapter says
        otherwise.
        """
        return [record.data() for record in self.driver.execute_query(text, parameters).records]

    def await_indexes(self) -> None:
        """Wait until the indexes contain what was written."""
        self.rows("CALL db.awaitIndexes(300)")


def key(user: str, name: str) -> str:
    """Identifies an entity of a user."""
    return f"{user}/{name}"


def names_of(facts: Sequence[Fact]) -> list[tuple[str, str]]:
    """User and name of each entity, once."""
    return list(
        dict.fromkeys((fact.user, name) for fact in facts for name in (fact.source, fact.target))
    )


def batches(items: Sequence[ItemT]) -> Iterator[Sequence[ItemT]]:
    """The items in parts that a toolkit without batches of its own gets in one call."""
    for first in range(0, len(items), AT_ONCE):
        yield items[first : first + AT_ONCE]


def distinct_names(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """The names of relationships in their order."""
    return list(dict.fromkeys(name for pair in pairs for name in pair))
