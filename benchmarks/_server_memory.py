"""How much memory a server and this process take while something runs."""

import asyncio
import resource
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

from kgagent.errors import StoreError
from kgagent.graph.store import Store

Result = TypeVar("Result")

PAUSE = 0.05
TRANSACTIONS = """
SHOW TRANSACTIONS YIELD currentQuery, estimatedUsedHeapMemory
WHERE NOT currentQuery CONTAINS 'SHOW TRANSACTIONS'
RETURN max(estimatedUsedHeapMemory) AS bytes
"""
HEAP = """
CALL dbms.queryJmx('java.lang:type=Memory') YIELD attributes
RETURN attributes.HeapMemoryUsage.value.properties.used AS used, attributes.HeapMemoryUsage.value.properties.max AS most
"""


@dataclass
class Memory:
    """What was seen at the most, in megabytes.

    Attributes:
        statement: that the server reckons for the largest statement.
        heap: of the server in use, what is no longer needed but not yet collected too.
        heap_limit: that the server may take.
        client: that this process ever held.
    """

    statement: float = 0.0
    heap: float = 0.0
    heap_limit: float = 0.0
    client: float = 0.0


async def watched(store: Store, work: Awaitable[Result]) -> tuple[Result, Memory]:
    """Await some work, and look at the memory all the while."""
    seen = Memory()
    looking = asyncio.create_task(_look(store, seen))
    try:
        return await work, seen
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
        seen.client = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


async def _look(store: Store, seen: Memory) -> None:
    while True:
        [running] = await store.run_schema(TRANSACTIONS)
        seen.statement = max(seen.statement, (running["bytes"] or 0) / 1e6)
        try:
            [heap] = await store.run_schema(HEAP)
        except StoreError:
            heap = {"used": 0, "most": 0}
        seen.heap, seen.heap_limit = max(seen.heap, heap["used"] / 1e6), heap["most"] / 1e6
        await asyncio.sleep(PAUSE)
