"""A TCP proxy in front of Neo4j that a test can cut or stop, as a network or a dead server would."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

COMMIT = b"\xb0\x12\x00\x00"
"""The message of the Bolt protocol that commits a transaction, with the end of its chunk."""


class Proxy:
    """Passes bytes on between its clients and a server.

    Attributes:
        uri: bolt address for clients.
        requests: what the clients sent, joined.
    """

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname or "localhost", parts.port or 7687)
        self._passing = asyncio.Event()
        self._passing.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._lost_message = COMMIT
        self._replies_to_lose = 0
        self._server: asyncio.Server | None = None
        self._port = 0
        self.uri = ""
        self.requests = bytearray()

    async def start(self) -> None:
        """Listen, on the same port as before."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        self.uri = f"bolt://127.0.0.1:{self._port}"

    def cut(self) -> None:
        """Close all connections and refuse new ones, as after the death of the server."""
        if self._server is not None:
            self._server.close()
        for writer in self._writers:
            writer.transport.abort()

    def swallow(self) -> None:
        """Accept connections and bytes, and pass nothing on, as a server that is stopped."""
        self._passing.clear()

    def lose_replies_to_commits(self, count: int) -> None:
        """Cut the connections of the next commits after the server has committed, before it can say so."""
        self.lose_replies_to(COMMIT, count)

    def lose_replies_to(self, message: bytes, count: int) -> None:
        """Cut the connections on which the next messages with these bytes come, before the server's replies arrive."""
        self._lost_message, self._replies_to_lose = message, count

    def resume(self) -> None:
        """Pass bytes on again."""
        self._passing.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection(*self._target)
        self._writers |= {writer, inner_writer}
        lost = asyncio.Event()
        await asyncio.gather(
            self._pass(reader, inner_writer, lost, is_request=True), self._pass(inner_reader, writer, lost)
        )
        self._writers -= {writer, inner_writer}

    async def _pass(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        lost: asyncio.Event,
        *,
        is_request: bool = False,
    ) -> None:
        try:
            while data := await reader.read(65_536):
                await self._passing.wait()
                if is_request:
                    self.requests += data
                if is_request and self._replies_to_lose and self._lost_message in data:
                    self._replies_to_lose -= 1
                    lost.set()
                elif lost.is_set():
                    writer.transport.abort()
                    return
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def proxy_to(target: str) -> AsyncIterator[Proxy]:
    """A proxy that ends with the block."""
    proxy = Proxy(target)
    await proxy.start()
    try:
        yield proxy
    finally:
        proxy.resume()
        proxy.cut()
