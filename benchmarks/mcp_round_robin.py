"""MCP over HTTP behind a round robin: two stateless processes, and every request of a client goes
to the other one.

    python benchmarks/mcp_round_robin.py [--calls 10000] [--clients 8] [--seconds 3600]

Half of the clients agree on the protocol by the handshake, half by revision 2026-07-28. Each has
its own user and token. It remembers two people, reads them, pages through a search, updates the
relationship and reads it: what one process wrote, the other must show, and a cursor of one must
continue at the other. A wrong answer counts as an error. It ends after so many seconds, whatever
was done.
"""

import asyncio
import json
import os
import re
import secrets
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from _common import Server, finish, open_graph, p50, p95, parser, server, show
from _round_robin import Mode, connected, process
from mcp import Client
from mcp.types import TextContent

from kgagent import Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.private_files import write_private_file

CREW = 6
"""Further people of a conversation, so that a search has several pages."""

_CURSOR = re.compile(r'continue with cursor "([^"]+)"')

MODES: tuple[Mode, ...] = ("legacy", "auto")


@dataclass
class Outcome:
    """What became of the calls.

    Attributes:
        seconds: of each call, by mode of its client.
        errors: kinds of errors and how often each occurred.
        served: number of requests by process.
    """

    seconds: dict[Mode, list[float]] = field(default_factory=lambda: {mode: [] for mode in MODES})
    errors: Counter[str] = field(default_factory=Counter)
    served: Counter[str] = field(default_factory=Counter)

    @property
    def calls(self) -> int:
        """Number of calls."""
        return sum(map(len, self.seconds.values()))


class Caller:
    """A client that works as long as there are calls to make."""

    def __init__(
        self, client: Client, mode: Mode, outcome: Outcome, calls: int, end: float
    ) -> None:
        self._client = client
        self._mode = mode
        self._outcome = outcome
        self._calls = calls
        self._end = end

    async def work(self) -> None:
        """Repeat the conversation; its number of calls is odd, so that each kind of call goes to
        each process.
        """
        number = 0
        while self._more():
            number += 1
            await self._conversation(f"Ann {number}", f"Bob {number}")

    async def _conversation(self, ann: str, bob: str) -> None:
        names = [ann, bob, *(f"{ann}, sailor {place}" for place in range(CREW))]
        people = [
            {"label": "Person", "name": name, "description": f"{name} sails a boat"}
            for name in names
        ]
        joined = {
            "from": ann,
            "to": bob,
            "relationship_type": "mentor",
            "description": f"{ann} teaches {bob} to sail",
        }
        ends = {"from_entity_key": ann, "to_entity_key": bob}
        await self._call("remember", f"{len(people)} created", nodes=people, relationships=[joined])
        await self._call("explore", f"{ann} sails a boat", text_matches=[ann])
        search: dict[str, object] = {"query": "who sails a boat?", "token_budget": 100}
        found = _CURSOR.search(await self._call("hybrid_search", "continue with cursor", **search))
        await self._call(
            "hybrid_search", "sails a boat", **search, cursor=found[1] if found else "none"
        )
        await self._call(
            "update_relationship", "Updated", **ends, description=f"{ann} and {bob} cross the sea"
        )
        await self._call(
            "add_note_to_relationship", "Added note", **ends, content="They met in Bergen."
        )
        await self._call("get_relationship", "cross the sea", **ends)

    async def _call(self, tool: str, expected: str, /, **arguments: object) -> str:
        """Make one call, check its answer, and return it."""
        if not self._more():
            return ""
        start = time.perf_counter()
        try:
            text = await self._text(tool, arguments)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            self._outcome.errors[text[:100]] += 1
        else:
            if expected not in text:
                self._outcome.errors[f"{tool} without {expected!r}: {text}"[:200]] += 1
        self._outcome.seconds[self._mode].append(time.perf_counter() - start)
        return text

    async def _text(self, tool: str, arguments: dict[str, object]) -> str:
        result = await self._client.call_tool(tool, arguments)
        return "".join(
            content.text for content in result.content if isinstance(content, TextContent)
        )

    def _more(self) -> bool:
        return self._outcome.calls < self._calls and time.monotonic() < self._end


async def run(urls: Sequence[str], tokens: Sequence[str], calls: int, seconds: float) -> Outcome:
    """Make calls with one client for each token, which alternate between the modes."""
    outcome = Outcome()
    end = time.monotonic() + seconds

    async def work(mode: Mode, token: str) -> None:
        try:
            async with connected(urls, token, mode, outcome.served) as client:
                await Caller(client, mode, outcome, calls, end).work()
        except Exception as error:
            # A client of the SDK ends when one of its requests cannot be sent; the others go on.
            for cause in _causes(error):
                outcome.errors[f"client ended by {type(cause).__name__}: {cause}"[:100]] += 1

    await asyncio.gather(
        *(work(MODES[number % len(MODES)], token) for number, token in enumerate(tokens))
    )
    return outcome


def _causes(error: BaseException) -> Iterator[BaseException]:
    """What a group of errors consists of."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _causes(one)
    else:
        yield error


async def measure(where: Server, calls: int, clients: int, seconds: float) -> dict[str, object]:
    """Start two processes and make the calls."""
    users = {
        secrets.token_urlsafe(32): f"benchmark-round-robin-{uuid.uuid4()}" for _ in range(clients)
    }
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")
    } | {
        "NEO4J_URI": where.uri,
        "NEO4J_USERNAME": where.username,
        "KGAGENT_EMBEDDER": "hashing",
    }
    if where.password is not None:
        environment["NEO4J_PASSWORD"] = where.password
    with tempfile.TemporaryDirectory(prefix="kgagent-benchmark-") as name:
        folder = Path(name)
        write_private_file(folder / "tokens.json", json.dumps(users))
        async with (
            open_graph(where, HashingEmbedder(), Settings(), users=list(users.values())),
            process(environment, folder, folder / "tokens.json") as one,
            process(environment, folder, folder / "tokens.json") as other,
        ):
            began = time.monotonic()
            outcome = await run([one, other], list(users), calls, seconds)
            took = time.monotonic() - began
    for error, times in outcome.errors.most_common(5):
        print(f"{times} times: {error}")
    show(
        "calls behind a round robin of two processes",
        [
            {"clients": mode, "calls": len(each), "p50 s": p50(each), "p95 s": p95(each)}
            for mode, each in outcome.seconds.items()
            if each
        ],
    )
    every = [second for each in outcome.seconds.values() for second in each]
    return {
        "calls": outcome.calls,
        "errors": outcome.errors.total(),
        "p50_seconds": p50(every),
        "p95_seconds": p95(every),
        "calls_per_second": outcome.calls / took,
        "requests_of_processes": "/".join(str(number) for number in outcome.served.values()),
    }


def main() -> None:
    """Parse the options and measure."""
    options = parser(__doc__)
    options.add_argument("--calls", type=int, default=10_000, help="number of calls of all clients")
    options.add_argument("--clients", type=int, default=8, help="number of clients, each a user")
    options.add_argument(
        "--seconds", type=float, default=3_600.0, help="seconds after which it ends"
    )
    given = options.parse_args()
    with server(given.uri) as where:
        figures = asyncio.run(measure(where, given.calls, given.clients, given.seconds))
    finish(figures, as_json=given.json)


if __name__ == "__main__":
    main()
