"""What goes wrong during a soak test: connections are cut, replies lost, the embedder fails, the
server is killed.
"""

import asyncio
import signal
from collections import Counter
from collections.abc import Sequence
from random import Random

import psutil

from kgagent import KnowledgeGraph
from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.wrapper import WrapperEmbedder
from kgagent.errors import EmbeddingUnavailableError
from kgagent.local import LocalNeo4j
from tests.support.proxy import Proxy

AWAY = "The model is away"
LOST_REPLIES = 4
PAUSE = 0.3
"""Seconds during which no connection is accepted."""

RECOVERY = 120.0
"""Seconds in which all graphs must work again."""


class Faults:
    """Lets one fault happen in each round, in turn, until each kind has happened so often.

    Attributes:
        happened: how often each kind has happened.
        embedder_fails: whether some requests for embeddings fail at present.
    """

    def __init__(
        self, proxy: Proxy, *, times: int, seed: int, local: LocalNeo4j | None = None
    ) -> None:
        """Prepare.

        Args:
            proxy: through which the graphs reach the server.
            times: how often each kind of fault happens.
            seed: of the random decisions.
            local: the server, if it may be killed.
        """
        self._proxy = proxy
        self._local = local
        self._random = Random(f"{seed} faults")
        self.happened = Counter(
            dict.fromkeys(("cut", "lost replies", "embedder", *(["kill"] if local else [])), 0)
        )
        self._times = times
        self.embedder_fails = False

    @property
    def uri(self) -> str:
        """The address for the graphs."""
        return self._proxy.uri

    @property
    def are_done(self) -> bool:
        """Whether each kind has happened often enough."""
        return min(self.happened.values()) >= self._times

    def should_fail(self) -> bool:
        """Whether the next request for embeddings fails."""
        return self.embedder_fails and self._random.random() < 0.3

    async def happen(self) -> None:
        """Let the fault happen that has happened least, in the middle of the work of the agents."""
        await asyncio.sleep(self._random.uniform(0.1, 1.0))
        kind = min(self.happened, key=lambda each: self.happened[each])
        self.happened[kind] += 1
        match kind:
            case "cut":
                self._proxy.cut()
                await asyncio.sleep(PAUSE)
                await self._proxy.start()
            case "lost replies":
                self._proxy.lose_replies_to_commits(LOST_REPLIES)
            case "embedder":
                self.embedder_fails = True
            case _:
                await asyncio.to_thread(self._kill_and_start)

    async def end(self, graphs: Sequence[KnowledgeGraph], user_id: str) -> None:
        """Wait until all graphs work again.

        Raises:
            TimeoutError: one does not.
        """
        self.embedder_fails = False
        self._proxy.lose_replies_to_commits(0)
        async with asyncio.timeout(RECOVERY):
            for graph in graphs:
                while not (await graph.tools(user_id=user_id).describe_graph())["success"]:  # noqa: ASYNC110
                    await asyncio.sleep(0.2)

    def _kill_and_start(self) -> None:
        assert self._local is not None
        info = self._local.up()
        process = psutil.Process(info.pid)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        self._local.up()


class FaultyEmbedder(WrapperEmbedder):
    """Fails at times."""

    def __init__(self, embedder: Embedder, faults: Faults) -> None:
        super().__init__(embedder)
        self._faults = faults

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed, or fail."""
        self._check()
        return await self._embedder.embed(texts)

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed, or fail."""
        self._check()
        return await super().embed_queries(texts)

    def _check(self) -> None:
        if self._faults.should_fail():
            raise EmbeddingUnavailableError(AWAY)
