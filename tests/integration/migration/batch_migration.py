"""A migration by batches in a process of its own, which a test kills while it waits.

Arguments: uri, username, password, user id, address of OpenAI's API, state file.
"""

import asyncio
import sys

from kgagent import BatchEngine, KnowledgeGraph, Settings
from tests.conftest import Clock
from tests.support.embedders import openai_embedder


async def main(uri: str, username: str, password: str, user_id: str, base_url: str, state: str) -> None:
    connecting = KnowledgeGraph.connect(
        uri,
        username=username,
        password=password,
        embedder=openai_embedder(base_url),
        settings=Settings(_env_file=None),
        ensure_schema=False,
        clock=Clock(),
    )
    async with connecting as graph:
        await graph.migrate(user_id=user_id, engine=BatchEngine(state=state, poll=0.01))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
