"""Cost of a call of each tool on the sample graph: statements, embeddings, size of the result, and time.

    python benchmarks/tool_costs.py --markdown docs/tool-costs.md

It uses the local model. The first call of each tool runs on a new graph object without caches; the others share one
that is warm.
"""

import asyncio
import os
import platform
import statistics
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

from _common import finish, open_graph, parser, server, show
from _definitions import toolset_table
from _tool_calls import CALLS, Cost, People, Setting, cost_of, load_sample, most

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.local import LocalEmbedder
from kgagent.knowledge_graph import services_of
from kgagent.observability import Recorder

DELETE_USER = "MATCH (n {user_id: $user_id}) DETACH DELETE n"

PAGE = """# Costs of tool calls

Made by

```sh
{command}
```

on the sample graph of `kgagent demo` ({records} relationships of one user), Neo4j {version} on the same machine
({machine}, load average {load:.0f}), with the local model ({embedder}); {calls} calls each, one after another. p50 is
the median of those calls; it depends on the machine and its load. The counts do not, unless calls are so slow that
cached facts about the graph expire between them; a test checks them.

| tool | reads | writes | embedding requests (texts) | first call: reads | answer: characters | p50 ms |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
{rows}

- **reads, writes**: statements sent to Neo4j, the maximum over the calls. A read is one round trip. A write
  is a separate transaction: one round trip for the statement and one for the commit. If a search sends several
  reads, most of them run concurrently.
- **embedding requests (texts)**: calls of the embedder. A cached query costs none; here each query
  is new.
- **first call**: reads of the tool's first call in a process, which also reads the number of the user's
  records, the options of the indexes and, for `query_patterns`, the schema of the graph.
- **answer: characters**: of the answer as JSON, the maximum over the calls. It grows with the content of the graph
  and with the limits of the call, which are the defaults here.
- `remember` writes ten people with a relationship each, `create_relationships` and `update_relationships` write ten
  relationships. The others write or read one
  record; `query_patterns` matches paths of two hops, `traverse` follows two hops, `find_paths` has a query.

Retries are not included: after a conflict with a concurrent write, a write reads again, and embeds again if the text
changed.

## Definitions

What a model is sent before it calls anything: name, title, description, arguments and hints of each tool as JSON, as an
MCP client receives them, with the default ontology. A test bounds them.

{definitions}
"""


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

    def markdown(self) -> str:
        """A row of the page's table."""
        usual = self.usual
        embeddings = f"{usual.embeddings} ({usual.texts})" if usual.embeddings else "0"
        counts = (usual.reads, usual.writes, embeddings, self.first.reads)
        figures = (*counts, f"{usual.characters:,}", f"{self.p50_ms:.0f}")
        return f"| `{self.tool}` | {' | '.join(map(str, figures))} |"


async def measure(graph: KnowledgeGraph, people: People, user_id: str, calls: int) -> list[Row]:
    """Cost of each tool; the graph is not watched, and those that are share its connection."""
    numbers = count(1)
    plain = graph.tools(user_id=user_id)
    recorder = Recorder()

    def watched() -> KnowledgeGraph:
        return KnowledgeGraph(
            services_of(graph).store, graph.ontology, graph.embedder, graph.settings, observer=recorder
        )

    async def cost(tool: str, of: KnowledgeGraph) -> Cost:
        return await cost_of(of, recorder, tool, Setting(plain, people, next(numbers)))

    rows: list[Row] = []
    for tool in CALLS:
        first = await cost(tool, watched())
        warm = watched()
        await cost(tool, warm)
        usual = [await cost(tool, warm) for _ in range(calls)]
        rows.append(Row(tool, most(usual), first, 1_000 * statistics.median(one.seconds for one in usual)))
    return rows


def page(rows: Sequence[Row], graph: KnowledgeGraph, command: str, records: int, calls: int) -> str:
    """The page of the documentation."""
    return PAGE.format(
        command=command,
        records=records,
        version=services_of(graph).store.features.version,
        machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        load=os.getloadavg()[1],
        embedder=graph.embedder,
        calls=calls,
        rows="\n".join(row.markdown() for row in rows),
        definitions=toolset_table(),
    )


async def main() -> None:
    """Run it."""
    arguments = parser(__doc__)
    arguments.add_argument("--calls", type=int, default=15, help="calls of each tool after its first")
    arguments.add_argument("--markdown", type=Path, help="write the page of the documentation to this file")
    asked = arguments.parse_args()
    user_id = f"benchmark-{uuid.uuid4()}"
    embedder = LocalEmbedder()
    with server(asked.uri) as where:
        async with open_graph(where, embedder, Settings(), users=[user_id]) as graph:
            people = await load_sample(graph, user_id)
            schema = await services_of(graph).live_schema.read(user_id)
            records = sum(one.count for one in schema.relationship_types)
            rows = await measure(graph, people, user_id, asked.calls)
            show("cost of a call", [{"tool": r.tool, **asdict(r.usual), "p50_ms": r.p50_ms} for r in rows])
            await services_of(graph).store.write(DELETE_USER, {"user_id": user_id})
            if asked.markdown:
                command = f"python benchmarks/tool_costs.py --calls {asked.calls} --markdown docs/tool-costs.md"
                asked.markdown.write_text(page(rows, graph, command, records, asked.calls), "utf-8")
    finish({row.tool: {"p50_ms": row.p50_ms, **asdict(row.usual)} for row in rows}, as_json=asked.json)


if __name__ == "__main__":
    asyncio.run(main())
