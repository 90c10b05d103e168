"""Goodput under overload: calls of `explore` that are answered, while ever more agents call at
once.

    python benchmarks/overload.py [--agents 20] [--factors 1,2,4,6,8,10] [--seconds 8] [--unlimited]

Each agent of four users calls again as soon as it is answered, and waits as long as it is told when
the graph is busy. With `--unlimited`, no call is refused, as before there were limits. The memory
is that of this process.
"""

import asyncio
import re
import resource
import statistics
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from _common import Server, finish, open_graph, parser, server, show

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder

USERS = tuple(f"benchmark-overload-{letter}" for letter in "abcd")
DIMENSIONS = 384
PEOPLE = 40
_SECONDS = re.compile(r"Try again in (\d+) s")


@dataclass
class Outcome:
    """What became of the calls of a run.

    Attributes:
        answered: number by user.
        errors: number of those that failed, without those that were refused.
        latencies: seconds of the answered ones.
    """

    answered: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)


async def plant(graph: KnowledgeGraph, user_id: str) -> None:
    """A graph of some people."""
    people = [
        {"label": "Person", "name": f"Person {n}", "description": f"Sails boat {n}"}
        for n in range(PEOPLE)
    ]
    known = [
        {
            "from": f"Person {n}",
            "to": f"Person {m}",
            "relationship_type": "mentor",
            "description": f"Teaches lesson {m}",
        }
        for n in range(PEOPLE)
        for m in (n + 1, n + 7)
        if m < PEOPLE
    ]
    answer = await graph.tools(user_id=user_id)["remember"](nodes=people, relationships=known)
    if not answer["success"]:
        raise SystemExit(answer["error"])


async def agent(graph: KnowledgeGraph, user_id: str, end: float, outcome: Outcome) -> None:
    """Explore again and again."""
    explore = graph.tools(user_id=user_id)["explore"]
    number = 0
    while (began := time.monotonic()) < end:
        number += 1
        answer = await explore(
            queries=[{"query": f"who teaches sailing lesson {number % 30}", "threshold": 0.1}]
        )
        if answer["success"]:
            outcome.answered[user_id] += 1
            outcome.latencies.append(time.monotonic() - began)
        elif told := _SECONDS.search(answer["error"]):
            outcome.refused += 1
            await asyncio.sleep(min(float(told[1]), max(0.0, end - time.monotonic())))
        else:
            outcome.errors[answer["error"][:80]] += 1


def memory() -> int:
    """Resident megabytes of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 2**20


async def measure(
    where: Server, agents: int, factors: list[int], seconds: float, *, unlimited: bool
) -> dict[str, object]:
    """Run the loads one after the other."""
    settings = Settings()
    if unlimited:
        settings = settings.model_copy(update={"max_reads": 100_000, "max_reads_per_user": 100_000})
    rows: list[dict[str, object]] = []
    goodput: list[float] = []
    async with open_graph(where, HashingEmbedder(DIMENSIONS), settings, users=USERS) as graph:
        for user_id in USERS:
            await plant(graph, user_id)
            await graph.tools(user_id=user_id)["explore"](queries=[{"query": "sailing"}])
        for factor in factors:
            outcome = Outcome()
            end = time.monotonic() + seconds
            count = agents * factor
            # One user has most of the agents.
            owners = [USERS[n % 8] if n % 8 < len(USERS) else USERS[0] for n in range(count)]
            await asyncio.gather(*(agent(graph, user_id, end, outcome) for user_id in owners))
            goodput.append(outcome.answered.total() / (time.monotonic() - end + seconds))
            rows.append(
                {
                    "agents": count,
                    "answered/s": goodput[-1],
                    "refused": outcome.refused,
                    "errors": outcome.errors.total(),
                    "median s": statistics.median(outcome.latencies or [0.0]),
                    "longest s": max(outcome.latencies, default=0.0),
                    "fewest of a user": min(outcome.answered[user_id] for user_id in USERS),
                    "MB": memory(),
                }
            )
            for error, times in outcome.errors.most_common(2):
                print(f"{times} times: {error}")
    show("explore by ever more agents" + (", without limits" if unlimited else ""), rows)
    return {
        "peak": max(goodput),
        "last": goodput[-1],
        "share_of_peak": goodput[-1] / max(goodput),
        "megabytes": memory(),
    }


def main() -> None:
    """Parse the options and measure."""
    options = parser(__doc__)
    options.add_argument("--agents", type=int, default=20, help="agents at factor 1")
    options.add_argument("--factors", default="1,2,4,6,8,10", help="multiples of the agents")
    options.add_argument("--seconds", type=float, default=8.0, help="seconds of each load")
    options.add_argument("--unlimited", action="store_true", help="without limits")
    given = options.parse_args()
    factors = [int(factor) for factor in given.factors.split(",")]
    with server(given.uri) as where:
        figures = asyncio.run(
            measure(where, given.agents, factors, given.seconds, unlimited=given.unlimited)
        )
    finish(figures, as_json=given.json)


if __name__ == "__main__":
    main()
