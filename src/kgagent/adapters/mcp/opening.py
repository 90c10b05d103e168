"""A graph that opens in the background, while the server answers already."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from kgagent.errors import BusyError, KgAgentError, StoreError
from kgagent.graph_directory import GraphDirectory
from kgagent.ontology import Ontology
from kgagent.progress import Advance, Progress, SilentProgress
from kgagent.settings import Settings

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph

PATIENCE = 20.0
"""Seconds that a call waits for the graph; clients give up a call after a minute or so."""

_log = logging.getLogger(__name__)


class OpeningGraph:
    """A graph of which a server needs nothing before it is open but its ontology and settings.

    A call waits until it is open. If it cannot be opened, the next call tries again.

    Attributes:
        ontology: the ontology of the graph.
        settings: the settings of the graph.
        state: what is going on, such as "Downloading Neo4j 2026.08.1, 45%"; empty if it is open,
            or nothing has been reported.
    """

    def __init__(
        self,
        connect: Callable[[Progress], Awaitable["KnowledgeGraph"]],
        ontology: Ontology,
        settings: Settings,
        progress: Progress | None = None,
    ) -> None:
        """Prepare.

        Args:
            connect: opens the graph, and reports progress to its argument.
            ontology: the ontology of the graph.
            settings: the settings of the graph.
            progress: also reports the progress.
        """
        self.ontology = ontology
        self.settings = settings
        self.state = ""
        self._begun: asyncio.Task[KnowledgeGraph] | None = None
        self._connect = connect
        self._progress = progress or SilentProgress()
        self._directory = GraphDirectory(lambda _: "the graph", lambda _: self._open())

    async def graph(self) -> "KnowledgeGraph":
        """The open graph.

        Raises:
            BusyError: it is still being opened; the text says what is going on, and to try again.
            KgAgentError: it cannot be opened.
        """
        limit = asyncio.timeout(PATIENCE)
        try:
            async with limit:
                return await self._directory.graph_of("")
        except KgAgentError:
            raise
        except Exception as error:
            if not limit.expired():
                _log.exception("The graph could not be opened")
                raise StoreError(
                    "The graph cannot be opened. The log of the server has the details"
                ) from error
        state = f" ({self.state})" if self.state else ""
        raise BusyError(f"The graph is still being opened{state}; try again in half a minute")

    @contextmanager
    def task(self, description: str, total: int | None = None) -> Iterator[Advance]:
        """Start a task of opening the graph, see `Progress`."""
        done = 0
        self.state = description
        with self._progress.task(description, total) as advance:

            def advanced(units: int) -> None:
                nonlocal done
                done += units
                self.state = f"{description}, {done / total:.0%}" if total else description
                advance(units)

            yield advanced

    def begin(self) -> None:
        """Begin to open the graph in the background, unless that has begun."""
        if self._begun is None:
            self._begun = asyncio.create_task(self._directory.graph_of(""))
            self._begun.add_done_callback(_log_failure)

    async def __aenter__(self) -> Self:
        """Use it for a block of code."""
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Close the graph."""
        await self._directory.close()

    async def _open(self) -> "KnowledgeGraph":
        graph = await self._connect(self)
        graph.embedder.preload()
        self.state = ""
        return graph


def _log_failure(opening: "asyncio.Task[KnowledgeGraph]") -> None:
    """Log why the graph could not be opened; calls say so too."""
    error = None if opening.cancelled() else opening.exception()
    if error is not None:
        _log.error("%s", error, exc_info=None if isinstance(error, KgAgentError) else error)
