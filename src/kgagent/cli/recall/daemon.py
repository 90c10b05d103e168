"""The daemon of `kgagent recall`: it keeps the graph open and answers calls, one line of JSON each.

It listens on the loopback address. Its port and its secret are in a private file; both sides prove
that they have read it. It ends when it is idle, or when another daemon has written the file.
"""

import asyncio
import hmac
import json
import secrets
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgagent.cli.recall.client import ADDRESS, VERSION, described, log, proof
from kgagent.graph_directory import GraphDirectory
from kgagent.private_files import replace_private_file

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter

    from kgagent.knowledge_graph import KnowledgeGraph

IDLE = 1_800.0
"""Seconds without a call after which the daemon ends."""

HANDSHAKE = 10.0
"""Seconds in which a caller must have sent its request."""

CHECKED = 2.0
"""Seconds after which the daemon looks at its file again."""


class Daemon:
    """A running daemon."""

    def __init__(self) -> None:
        """Prepare; nothing is opened yet."""
        self._secret = secrets.token_hex(32)
        self._called = time.monotonic()
        self._graphs = GraphDirectory(lambda _: "", lambda _: _open())
        self._left: dict[str | None, asyncio.Task[str]] = {}

    async def serve(self, file: Path, idle: float) -> None:
        """Answer calls until there is none for `idle` seconds.

        Args:
            file: where the address and the secret are written.
            idle: in seconds.
        """
        async with await asyncio.start_server(self._answer, ADDRESS, 0) as server, self._graphs:
            port = server.sockets[0].getsockname()[1]
            state = json.dumps({"port": port, "secret": self._secret, "version": VERSION})
            replace_private_file(file, state)
            opening = asyncio.create_task(self._graphs.graph_of(""))
            # A call tries again, and says why it failed.
            opening.add_done_callback(lambda task: task.cancelled() or task.exception())
            # Neither the time nor the file is an event.
            while time.monotonic() < self._called + idle and _read(file) == state:  # noqa: ASYNC110
                await asyncio.sleep(min(CHECKED, idle))

    async def _answer(self, reader: "StreamReader", writer: "StreamWriter") -> None:
        with suppress(OSError, ValueError, KeyError, TypeError):
            async with asyncio.timeout(HANDSHAKE):
                nonce = (await reader.readline()).decode().strip()
                writer.write(proof(self._secret, nonce) + b"\n")
                request = json.loads(await reader.readline())
            if hmac.compare_digest(str(request["secret"]).encode(), self._secret.encode()):
                self._called = time.monotonic()
                writer.write(json.dumps(await self._recall(request)).encode() + b"\n")
                await writer.drain()
        writer.close()

    async def _recall(self, request: dict[str, Any]) -> dict[str, str]:
        if not request["query"]:
            return {}
        try:
            return {"text": await self._within(request["seconds"], request)}
        except Exception as error:
            return {"problem": described(error)}

    async def _within(self, seconds: float, request: dict[str, Any]) -> str:
        """What a search finds in the time of its caller.

        The search goes on without its caller, as the server keeps no plan of a statement that is
        cancelled. Of one user, one search is left so at a time.

        Raises:
            Exception: the search failed, or took longer.
        """
        user = request["user"]
        search: asyncio.Task[str] | None = None
        try:
            async with asyncio.timeout(seconds):
                if user in self._left:
                    await asyncio.wait({self._left[user]})
                search = asyncio.create_task(self._found(request))
                return await asyncio.shield(search)
        finally:
            if search and not search.done():
                if user in self._left:
                    search.cancel()
                else:
                    self._left[user] = search
                    search.add_done_callback(lambda _: self._left.pop(user))

    async def _found(self, request: dict[str, Any]) -> str:
        graph = await self._graphs.graph_of("")
        from kgagent.cli.recall.answer import recalled

        user_id = request["user"] or graph.settings.user_id
        return await recalled(graph, user_id, request["query"], request["tokens"])


async def _open() -> "KnowledgeGraph":
    # The imports take a second, in which calls are accepted.
    await asyncio.to_thread(__import__, "kgagent.cli.recall.answer")
    from kgagent.errors import KgAgentError
    from kgagent.knowledge_graph import KnowledgeGraph

    graph = await KnowledgeGraph.connect(ensure_schema=False)
    # Before the first search ends, the model is loaded, and the server has planned the statements.
    with suppress(KgAgentError):
        await graph.search("first", user_id=graph.settings.user_id)
    return graph


def _read(file: Path) -> str:
    return file.read_text("utf-8") if file.exists() else ""


def main() -> None:
    """Run a daemon; the arguments are its file, and the seconds without a call until it ends."""
    file, idle, *_ = [*sys.argv[1:], IDLE]
    try:
        asyncio.run(Daemon().serve(Path(file), float(idle)))
    except Exception as error:
        log(f"the daemon failed: {type(error).__name__}: {error}")
        raise


if __name__ == "__main__":
    main()
