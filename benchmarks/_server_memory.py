"""Memory of the server and of this process while something runs."""

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
    """Maxima in megabytes.

    Attributes:
        statement: the server's estimate for the largest statement.
        heap: used heap of the server, including garbage.
        heap_limit: maximum heap of the server.
        client: peak memory of this process.
    """

    statement: float = 0.0
    heap: float = 0.0
    heap_limit: float = 0.0
    client: float = 0.0


async def watched(store: Store, work: Awaitable[Result]) -> tuple[Result, Memory]:
    """Await work and sample the memory meanwhile."""
    peak = Memory()
    sampling = asyncio.create_task(_sample(store, peak))
    try:
        return await work, peak
    finally:
        sampling.cancel()
        await asyncio.gather(sampling, return_exceptions=True)
        peak.client = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


async def _sample(store: Store, peak: Memory) -> None:
    while True:
        [running] = await store.run_schema(TRANSACTIONS)
        peak.statement = max(peak.statement, (running["bytes"] or 0) / 1e6)
        try:
            [heap] = await store.run_schema(HEAP)
        except StoreError:
            heap = {"used": 0, "most": 0}
        peak.heap, peak.heap_limit = max(peak.heap, heap["used"] / 1e6), heap["most"] / 1e6
        await asyncio.sleep(PAUSE)
