"""A TCP proxy in front of Neo4j that a test can cut or stop, as a network or a dead server would.

It can also stand for a member of a cluster that tells clients where to read and to write.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

COMMIT = b"\xb0\x12\x00\x00"
"""The message of the Bolt protocol that commits a transaction, with the end of its chunk."""

ROUTE = b"\xb3\x66"
"""The start of the message that asks for the addresses of a cluster."""

Packable = int | str | Sequence["Packable"] | Mapping[str, "Packable"]


def packed(value: Packable) -> bytes:
    """A value as Bolt encodes it (PackStream); lists and maps have at most 15 items."""
    match value:
        case int():
            return b"\xca" + value.to_bytes(4, signed=True)
        case str():
            return bytes([0xD0, len(value.encode())]) + value.encode()
        case Mapping():
            return bytes([0xA0 + len(value)]) + b"".join(
                packed(key) + packed(one) for key, one in value.items()
            )
        case _:
            return bytes([0x90 + len(value)]) + b"".join(map(packed, value))


def routing_table(
    *, readers: Sequence[str], writers: Sequence[str], routers: Sequence[str]
) -> bytes:
    """The reply to ROUTE: addresses such as "127.0.0.1:7687", valid for an hour."""
    servers = [
        {"role": role, "addresses": addresses}
        for role, addresses in (("READ", readers), ("WRITE", writers), ("ROUTE", routers))
    ]
    success = b"\xb1\x70" + packed({"rt": {"ttl": 3_600, "db": "neo4j", "servers": servers}})
    return len(success).to_bytes(2) + success + bytes(2)


class Proxy:
    """Passes bytes on between its clients and a server.

    Attributes:
        uri: bolt address for clients.
        address: host and port for clients.
        requests: what the clients sent, joined.
        routes: reply to clients that ask for the addresses of a cluster; None lets the server
            reply.
    """

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname or "localhost", parts.port or 7687)
        self._passing = asyncio.Event()
        self._passing.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._serving: set[asyncio.Task[None]] = set()
        self._lost_message = COMMIT
        self._replies_to_lose = 0
        self._server: asyncio.Server | None = None
        self._port = 0
        self.uri = ""
        self.requests = bytearray()
        self.routes: bytes | None = None

    @property
    def address(self) -> str:
        return urlsplit(self.uri).netloc

    async def start(self) -> None:
        """Listen, on the same port as before."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
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
        """Cut the connections of the next commits after the server has committed, before it can say
        so.
        """
        self.lose_replies_to(COMMIT, count)

    def lose_replies_to(self, message: bytes, count: int) -> None:
        """Cut the connections on which the next messages with these bytes come, before the server's
        replies arrive.
        """
        self._lost_message, self._replies_to_lose = message, count

    def resume(self) -> None:
        """Pass bytes on again."""
        self._passing.set()

    async def close(self) -> None:
        """Cut all connections and wait until their sockets are closed."""
        self.resume()
        self.cut()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inner_reader, inner_writer = await asyncio.open_connection(*self._target)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, inner_writer}
        lost = asyncio.Event()
        try:
            await asyncio.gather(
                self._pass(reader, inner_writer, lost, answers=writer),
                self._pass(inner_reader, writer, lost),
            )
        finally:
            self._writers -= {writer, inner_writer}
            for one in (writer, inner_writer):
                one.transport.abort()
                with suppress(OSError):
                    await one.wait_closed()

    async def _pass(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        lost: asyncio.Event,
        *,
        answers: asyncio.StreamWriter | None = None,
    ) -> None:
        """Pass bytes on; requests of clients if `answers` leads back to the client."""
        try:
            while data := await reader.read(65_536):
                await self._passing.wait()
                if answers is not None:
                    self.requests += data
                    if self.routes is not None and data[2:4] == ROUTE:
                        answers.write(self.routes)
                        continue
                if answers is not None and self._replies_to_lose and self._lost_message in data:
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
        await proxy.close()
