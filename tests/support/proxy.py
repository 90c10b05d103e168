"""A TCP proxy in front of Neo4j that a test can cut or stop, as a network or a dead server would."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit


class Proxy:
    """Passes bytes on between its clients and a server.

    Attributes:
        uri: bolt address for clients.
    """

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname or "localhost", parts.port or 7687)
        self._passing = asyncio.Event()
        self._passing.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._port = 0
        self.uri = ""

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

    def resume(self) -> None:
        """Pass bytes on again."""
        self._passing.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection(*self._target)
        self._writers |= {writer, inner_writer}
        await asyncio.gather(self._pass(reader, inner_writer), self._pass(inner_reader, writer))
        self._writers -= {writer, inner_writer}

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65_536):
                await self._passing.wait()
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
