"""Cost of a call of each tool on the sample graph: statements, embeddings, size of the result, and
time.

    python benchmarks/tool_costs.py --calls 9

It uses the local model. The first call of each tool runs on a new graph object without caches; the
others share one that is warm.
"""

import asyncio
import statistics
import uuid
from dataclasses import asdict, dataclass
from itertools import count

from _common import finish, open_graph, parser, server, show
from _tool_calls import CALLS, Cost, People, Setting, cost_of, load_sample, most

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.local import LocalEmbedder
from kgagent.knowledge_graph import services_of
from kgagent.observability import Recorder

DELETE_USER = "MATCH (n {user_id: $user_id}) DETACH DELETE n"


@dataclass(frozen=True)
class Row:
    """Cost of a tool.

    Attributes:
        tool: name of the tool.
        usual: maximum over the calls after the first.
        first: the first call.
        p50_ms: median of the calls after the first.
    """

    tool: str
    usual: Cost
    first: Cost
    p50_ms: float

    def figures(self) -> dict[str, object]:
        """The figures of a row of the printed table."""
        return {
            "tool": self.tool,
            **asdict(self.usual),
            "first_reads": self.first.reads,
            "p50_ms": self.p50_ms,
        }


async def measure(graph: KnowledgeGraph, people: People, user_id: str, calls: int) -> list[Row]:
    """Cost of each tool; the graph is not watched, and those that are share its connection."""
    numbers = count(1)
    plain = graph.tools(user_id=user_id)
    recorder = Recorder()

    def watched() -> KnowledgeGraph:
        return KnowledgeGraph(
            services_of(graph).store,
            graph.ontology,
            graph.embedder,
            graph.settings,
            observer=recorder,
        )

    async def cost(tool: str, of: KnowledgeGraph) -> Cost:
        return await cost_of(of, recorder, tool, Setting(plain, people, next(numbers)))

    rows: list[Row] = []
    for tool in CALLS:
        first = await cost(tool, watched())
        warm = watched()
        await cost(tool, warm)
        usual = [await cost(tool, warm) for _ in range(calls)]
        rows.append(
            Row(tool, most(usual), first, 1_000 * statistics.median(one.seconds for one in usual))
        )
    return rows


async def main() -> None:
    """Run it."""
    arguments = parser(__doc__)
    arguments.add_argument(
        "--calls", type=int, default=15, help="calls of each tool after its first"
    )
    asked = arguments.parse_args()
    user_id = f"benchmark-{uuid.uuid4()}"
    embedder = LocalEmbedder()
    with server(asked.uri) as where:
        async with open_graph(where, embedder, Settings(), users=[user_id]) as graph:
            people = await load_sample(graph, user_id)
            rows = await measure(graph, people, user_id, asked.calls)
            show("cost of a call", [row.figures() for row in rows])
            await services_of(graph).store.write(DELETE_USER, {"user_id": user_id})
    finish({row.tool: row.figures() for row in rows}, as_json=asked.json)


if __name__ == "__main__":
    asyncio.run(main())
