"""Let agents of several users call the tools at random, and check after each round that the graph
is what it must be.

python scripts/soak.py [--minutes 10] [--calls N] [--users 3] [--agents 4] [--seed 1] [--steps 40]
    [--faults 20] [--fuzz]

With --faults, connections are cut, replies to commits are lost, the embedder fails at times, and
Neo4j is killed and started again, so many times each, one of them in each round. A call whose reply
was lost must have happened once or not at all. A server of its own is then started in any case,
because no other may be killed. With --fuzz, almost all calls are mutated or hostile.

It uses the Neo4j of NEO4J_URI, which needs the indexes of embeddings of length 384 or none yet, or
else starts one with the settings of the tests' server in a temporary folder; its users (soak-...)
are forgotten at the end. It prints a summary as JSON, and exits with 1 if anything was violated.
What is checked is in tests/adversarial/soak.py and tests/adversarial/soak_model.py.
"""

import argparse
import asyncio
import json
import os
import resource
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import SecretStr

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.adversarial.soak import Figures, soak
from tests.adversarial.soak_faults import Faults
from tests.support.proxy import proxy_to
from tests.support.shared_server import folder_in_memory, shared_local_server

from kgagent import Settings
from kgagent.local import LocalNeo4j


@contextmanager
def _own_server() -> Iterator[tuple[LocalNeo4j, Settings]]:
    """A Neo4j that ends with the block, and settings that lead to it."""
    with tempfile.TemporaryDirectory(prefix="kgagent-soak-", dir=folder_in_memory()) as folder:
        local = shared_local_server(Path(folder))
        info = local.up()
        try:
            password = SecretStr(info.password)
            yield (
                local,
                Settings(neo4j_uri=info.uri, neo4j_username=info.username, neo4j_password=password),
            )
        finally:
            local.down()


async def _with_faults(options: dict[str, Any], times: int) -> Figures:
    with _own_server() as (local, settings):
        async with proxy_to(str(settings.neo4j_uri)) as proxy:
            faults = Faults(proxy, times=times, seed=options["seed"], local=local)
            figures = await soak(settings, **options, faults=faults)
        print(f"Faults: {dict(faults.happened)}", file=sys.stderr)
    return figures


async def _without_faults(options: dict[str, Any]) -> Figures:
    if os.environ.get("NEO4J_URI"):
        return await soak(Settings(), **options)
    with _own_server() as (_, settings):
        return await soak(settings, **options)


def main() -> int:
    """Parse the options, run, and print the summary."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--minutes", type=float, help="end after so much time [10, unless --calls is given]"
    )
    parser.add_argument("--calls", type=int, help="end after at least so many calls")
    parser.add_argument("--users", type=int, default=3)
    parser.add_argument("--agents", type=int, default=4, help="agents of each user")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--steps", type=int, default=40, help="steps of each agent between two comparisons"
    )
    parser.add_argument(
        "--faults", type=int, help="let each kind of fault happen so often; ends when all have"
    )
    parser.add_argument(
        "--fuzz", action="store_true", help="make mutated and hostile calls, and few others"
    )
    given = parser.parse_args()
    lasts = given.minutes is not None or given.calls is not None or given.faults is not None
    minutes = given.minutes if lasts else 10.0
    run = uuid.uuid4().hex[:12]
    began = time.monotonic()
    options: dict[str, Any] = {
        "users": [f"soak-{run}-{place}" for place in range(given.users)],
        "agents": given.agents,
        "calls": given.calls,
        "seconds": None if minutes is None else minutes * 60,
        "seed": given.seed,
        "steps": given.steps,
        "fuzz": given.fuzz,
    }
    figures = asyncio.run(
        _without_faults(options) if given.faults is None else _with_faults(options, given.faults)
    )
    elapsed = time.monotonic() - began
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    head = {
        "seed": given.seed,
        "users": given.users,
        "agents": given.agents,
        "minutes": round(elapsed / 60, 1),
    }
    print(json.dumps({**head, **figures.summary(elapsed), "most_megabytes": most}, indent=2))
    return 1 if figures.violation_count else 0


if __name__ == "__main__":
    sys.exit(main())
