"""Rates of adopting a graph that plain Cypher wrote, of loading a graph of the same size, and of
undoing the adoption.

    python benchmarks/adopt_rate.py --relationships 100000 --json

Vectors are hashed, so the rates are those of the database alone. The server must hold no other
data.
"""

import asyncio
import json
import tempfile
from pathlib import Path

from _common import Server, finish, parser, server, timed

from kgagent import KnowledgeGraph, Ontology
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.knowledge_graph import Connecting, services_of

ADOPTED, LOADED = "adopted", "loaded"
NODES_OF = 10
"""Relationships for each customer, and for each product."""

CREATE = (
    "UNWIND range(0, $nodes - 1) AS i "
    "CREATE (:Customer {full_name: 'Customer Number ' + toString(i), city: ['Oslo', 'Rome', "
    "'Bern'][i % 3]}) "
    "CREATE (:Product {title: 'Product Number ' + toString(i), about: 'A solid thing, made of "
    "oak'})",
    "CREATE INDEX customer IF NOT EXISTS FOR (c:Customer) ON (c.full_name)",
    "MATCH (c:Customer) WITH collect(c) AS customers MATCH (p:Product) WITH customers, collect(p) "
    "AS products "
    "UNWIND range(0, $relationships - 1) AS i "
    "WITH customers[i % $nodes] AS c, products[(i * 7 + i / $nodes) % $nodes] AS p, i "
    "CREATE (c)-[:BOUGHT {note: 'paid in cash on day ' + toString(i)}]->(p)",
)


def write_lines(path: Path, relationships: int, nodes: int) -> None:
    """Write a file for `load` with a graph of the same size."""
    lines: list[dict[str, str]] = []
    for i in range(nodes):
        lines.append({"kind": "node", "id": f"c{i}", "label": "Customer", "name": f"Customer {i}"})
        lines.append({"kind": "node", "id": f"p{i}", "label": "Product", "name": f"Product {i}"})
    for i in range(relationships):
        ends = {"from": f"c{i % nodes}", "to": f"p{(i * 7 + i // nodes) % nodes}"}
        said = f"Customer {i % nodes} bought it, and paid in cash on day {i}"
        lines.append(
            {"kind": "relationship", **ends, "relationship_type": "bought", "description": said}
        )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


async def measure(where: Server, relationships: int) -> dict[str, float]:
    """Adopt, load and undo; return the rates, in records a second."""
    nodes = max(1, relationships // NODES_OF)
    records = relationships + 2 * nodes
    figures: dict[str, float] = {"records": records}

    def connect(ontology: Ontology | None = None) -> Connecting:
        return KnowledgeGraph.connect(
            where.uri,
            username=where.username,
            password=where.password,
            embedder=HashingEmbedder(384),
            ontology=ontology,
            ensure_schema=ontology is not None,
        )

    async with connect() as graph:
        for text in CREATE:
            await services_of(graph).store.write(
                text, {"nodes": nodes, "relationships": relationships}
            )
        report, seconds = await timed(graph.adopt(user_id=ADOPTED))
        figures["adopted_per_second"] = records / seconds
    async with connect(report.ontology) as graph:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "benchmark.jsonl"
            write_lines(path, relationships, nodes)
            loaded, seconds = await timed(graph.load(path, user_id=LOADED))
        if loaded.problems:
            raise SystemExit("; ".join(map(str, loaded.problems[:5])))
        figures["loaded_per_second"] = records / seconds
        undone, seconds = await timed(graph.undo_adoption(user_id=ADOPTED))
        if undone.records != records:
            raise SystemExit(str(undone))
        figures["undone_per_second"] = records / seconds
    return figures


def main() -> None:
    """Measure and print."""
    arguments = parser(__doc__)
    arguments.add_argument(
        "--relationships", type=int, default=20_000, help="relationships of the graph"
    )
    given = arguments.parse_args()
    with server(given.uri) as where:
        figures = asyncio.run(measure(where, given.relationships))
    finish(figures, as_json=given.json)


if __name__ == "__main__":
    main()
