"""`kgagent recall` as a host runs it, while another program writes, and with Neo4j stopped.

    python benchmarks/recall.py [--calls 1000] [--stopped 100] [--json]

Each call is a process of its own with a prompt on stdin; its seconds are those until it has ended.
The server is a temporary local one, which is stopped for the last calls.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from _common import finish, p50, p95

from kgagent import KnowledgeGraph, Settings
from kgagent.cli.progress import RichProgress
from kgagent.cli.recall.client import DEADLINE
from kgagent.local import LocalNeo4j

USER = "benchmark-recall"
PEOPLE = 300
RECALL = (sys.executable, "-c", "from kgagent.cli.program import main; main()", "recall")


async def plant(graph: KnowledgeGraph) -> None:
    """People who teach each other crafts."""
    people = [{"label": "Person", "name": f"Person {n}"} for n in range(PEOPLE)]
    known = [
        {
            **{"from": f"Person {n}", "to": f"Person {(n * 7 + 1) % PEOPLE}"},
            **{"relationship_type": "mentor", "description": f"Teaches sailing lesson {n}."},
        }
        for n in range(PEOPLE)
    ]
    remember = graph.tools(user_id=USER)["remember"]
    for field, items in (("nodes", people), ("relationships", known)):
        for first in range(0, PEOPLE, 50):
            answer = await remember(**{field: items[first : first + 50]})
            if not answer["success"]:
                raise SystemExit(answer["error"])


async def write(graph: KnowledgeGraph, done: asyncio.Event) -> int:
    """Write until the calls are done; return how often."""
    writes = 0
    remember = graph.tools(user_id=USER)["remember"]
    while not done.is_set():
        note = {"on": f"Person {writes % PEOPLE}", "content": f"Was seen at harbour {writes}."}
        answer = await remember(notes=[note])
        if not answer["success"]:
            raise SystemExit(answer["error"])
        writes += 1
    return writes


def recall(number: int, environment: Mapping[str, str]) -> tuple[float, str, bool]:
    """Run it: its seconds, what it printed, and whether the host could see a failure."""
    began = time.perf_counter()
    done = subprocess.run(  # noqa: S603 - no untrusted arguments
        RECALL,
        input=f"Who teaches sailing lesson {number % PEOPLE}?",
        env=dict(environment),
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - began
    return seconds, done.stdout, bool(done.returncode or done.stderr)


async def measure(calls: int, stopped: int, folder: Path) -> dict[str, object]:
    """Run the calls one after the other."""
    local = LocalNeo4j(folder / "neo4j", cache=Settings().cache)
    info = await asyncio.to_thread(local.up, RichProgress())
    settings = Settings(embedder="local")
    environment = {
        **os.environ,
        **{"NEO4J_URI": info.uri, "NEO4J_USERNAME": info.username},
        **{
            "NEO4J_PASSWORD": info.password,
            "KGAGENT_EMBEDDER": "local",
            "KGAGENT_USER_ID": USER,
            "XDG_STATE_HOME": str(folder),
        },
    }
    async with KnowledgeGraph.connect(
        info.uri, username=info.username, password=info.password, settings=settings
    ) as graph:
        await plant(graph)
        # Until the daemon answers.
        while not (await asyncio.to_thread(recall, 1, environment))[1]:
            pass
        done = asyncio.Event()
        writing = asyncio.create_task(write(graph, done))
        busy = [await asyncio.to_thread(recall, n, environment) for n in range(calls)]
        done.set()
        writes = await writing
    await asyncio.to_thread(local.down)
    without = [await asyncio.to_thread(recall, n, environment) for n in range(stopped)]
    # The daemon ends.
    shutil.rmtree(folder / "kgagent")
    figures: dict[str, object] = {"calls": calls, "writes_meanwhile": writes}
    for name, outcomes in (("busy", busy), ("stopped", without)):
        seconds = [one[0] for one in outcomes]
        figures |= {
            f"{name}_p50_s": p50(seconds),
            f"{name}_p95_s": p95(seconds),
            f"{name}_longest_s": max(seconds),
            f"{name}_over_deadline": sum(one > DEADLINE for one in seconds),
            f"{name}_recalled": sum(bool(one[1]) for one in outcomes),
            f"{name}_failed_visibly": sum(one[2] for one in outcomes),
        }
    return figures


def main() -> None:
    """Parse the options and measure."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--calls", type=int, default=1_000)
    options.add_argument("--stopped", type=int, default=100)
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="kgagent-benchmark-") as folder:
        figures = asyncio.run(measure(given.calls, given.stopped, Path(folder)))
    finish(figures, as_json=given.json)


if __name__ == "__main__":
    main()
