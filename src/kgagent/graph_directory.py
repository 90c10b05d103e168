"""Graphs in several databases or on several servers, and which of them holds the data of a user."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from kgagent.errors import InputError, StoreError

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph


class GraphDirectory:
    """Returns the graph of each user: opens it when it is first needed, keeps it open, and closes
    all together.

    `async with GraphDirectory(place_of, connect) as directory` closes them at the end of the block.
    """

    def __init__(
        self,
        place_of: Callable[[str], str | Awaitable[str]],
        connect: Callable[[str], Awaitable["KnowledgeGraph"]],
    ) -> None:
        """Prepare; nothing is opened yet.

        Args:
            place_of: returns the name of the place of a user's graph, such as a database or a
                customer, plain or async; a `LookupError` says that the user has none.
            connect: opens the graph of a place, for example with
                `KnowledgeGraph.connect(database=place)`.
        """
        self._place_of = place_of
        self._connect = connect
        self._opening: dict[str, asyncio.Task[KnowledgeGraph]] = {}
        self._is_closed = False

    async def graph_of(self, user_id: str) -> "KnowledgeGraph":
        """Return the open graph of a user; users of one place share it.

        Raises:
            InputError: the user has no graph.
            StoreError: the directory is closed, or the database cannot be used; the next call tries
                again.
            KgAgentError: the graph cannot be opened for another reason.
        """
        try:
            place = self._place_of(user_id)
            name = await place if inspect.isawaitable(place) else place
        except LookupError:
            raise InputError(f"There is no graph for user {user_id!r}") from None
        if self._is_closed:
            raise StoreError("The graphs are closed: open the directory again")
        if name not in self._opening:
            self._opening[name] = asyncio.create_task(self._open(name))
        # A caller that is cancelled does not cancel the others.
        return await asyncio.shield(self._opening[name])

    async def close(self) -> None:
        """Close all graphs, and open none any further; a second call does nothing."""
        self._is_closed = True
        opening, self._opening = list(self._opening.values()), {}
        for task in opening:
            task.cancel()
        opened = await asyncio.gather(*opening, return_exceptions=True)
        graphs = (graph for graph in opened if not isinstance(graph, BaseException))
        failures = await asyncio.gather(
            *(graph.close() for graph in graphs), return_exceptions=True
        )
        for failure in failures:
            if isinstance(failure, BaseException):
                raise failure

    async def __aenter__(self) -> Self:
        """Use it for a block of code."""
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Close all graphs at the end of the block."""
        await self.close()

    async def _open(self, place: str) -> "KnowledgeGraph":
        try:
            return await self._connect(place)
        except BaseException:
            self._opening.pop(place, None)
            raise
