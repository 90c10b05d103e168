"""Answers of all tools that read, at a hub with 100,000 relationships: tokens compared with the budget, and time.

    python benchmarks/hub_budgets.py [--relationships 100000] [--json]

Every tool is called with several budgets, for text and JSON, directly and over MCP, there with structured content too.
The program fails if an answer has more tokens than its budget. Structured content, for programs, is shown separately.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from _common import Server, finish, open_graph, p50, parser, server, show
from mcp import Client
from mcp.types import TextContent

from kgagent import KnowledgeGraph, Settings
from kgagent.adapters.mcp import make_server
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.knowledge_graph import services_of
from kgagent.models.token_budget import estimated_tokens
from kgagent.tools.toolsets import ALL

USER = "benchmark-hub-budgets"
DIMENSIONS = 16
BATCH = 10_000
DETAILED = 200
BUDGETS = (100, 2_000, 20_000)
ENOUGH_FOR_JSON = 2_000
"""Budget from which every answer must succeed; a smaller one may be refused as too small for JSON."""

STEP = {"source_label": "Entity", "relation_type": "connected_to", "target_label": "Entity"}
CALLS: Mapping[str, dict[str, Any]] = {
    "explore": {"text_matches": ["hub"], "queries": [{"query": "hub mentor", "threshold": -1}]},
    "hybrid_search": {"query": "hub mentor", "threshold": -1, "limit": 100},
    "traverse": {"entity_key": "hub"},
    "find_paths": {"from_entity_key": "n1", "to_entity_key": "n2", "query": "mentor"},
    "get_relationship": {"from_entity_key": "hub", "to_entity_key": "n1"},
    "query_patterns": {"patterns": [{"steps": [STEP]}]},
    "describe_graph": {},
}
CREATE_HUB = "CREATE (:Entity {user_id: $user, entity_key: 'hub', name: 'hub', description: $said})"
JOIN = """
MATCH (hub:Entity {user_id: $user, entity_key: 'hub'})
UNWIND range($first, $last) AS i
CREATE (hub)-[r:connected_to {user_id: $user, relationship_type: 'mentor', description: 'hub met n' + i,
    created_at: datetime(), embedding_model: $model}]->
  (n:Entity {user_id: $user, entity_key: 'n' + i, name: 'n' + i, embedding_model: $model})
WITH r, n, [x IN range(1, $dimensions) | sin(x * i)] AS vector, i <= $detailed AS is_detailed
FOREACH (_ IN CASE WHEN is_detailed THEN [1] END | SET r.description = $said, n.description = $said, r.notes = $notes)
WITH r, n, vector
CALL db.create.setRelationshipVectorProperty(r, 'relationship_embedding', vector)
CALL db.create.setNodeVectorProperty(n, 'embedding', vector)
"""


@dataclass(frozen=True)
class Answer:
    """What a client got.

    Attributes:
        text: the answer as text or JSON.
        structured: structured content as JSON; empty if there is none.
        is_too_small: whether the budget was refused as too small.
    """

    text: str
    structured: str = ""
    is_too_small: bool = False


Call = Callable[[str, dict[str, Any]], Awaitable[Answer]]


async def plant(graph: KnowledgeGraph, relationships: int) -> None:
    """Create a hub with relationships that all have embeddings, some of them with long texts and 200 notes."""
    store = services_of(graph).store
    said = "They sail every summer. " * 100
    notes = json.dumps([{"content": f"Summer {year}: sailed to Bergen"} for year in range(200)])
    await store.write(CREATE_HUB, {"user": USER, "said": said})
    for first in range(1, relationships + 1, BATCH):
        rows = {"first": first, "last": min(relationships, first + BATCH - 1), "detailed": DETAILED}
        texts = {"user": USER, "said": said, "notes": notes, "model": graph.embedder.model, "dimensions": DIMENSIONS}
        await store.write(JOIN, rows | texts)


def ways_of(graph: KnowledgeGraph, plain: Client, structured: Client) -> dict[str, Call]:
    """How the tools are called."""
    tools = graph.tools(user_id=USER)

    async def direct(tool: str, given: dict[str, Any]) -> Answer:
        answer = await tools[tool].call_text(given)
        return Answer(answer.text, is_too_small=_is_refused(tool, answer.text, is_error=answer.is_error))

    def over_mcp(client: Client) -> Call:
        async def call(tool: str, given: dict[str, Any]) -> Answer:
            result = await client.call_tool(tool, given)
            text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
            content = result.structured_content
            structured = "" if content is None else json.dumps(content, ensure_ascii=False)
            return Answer(text, structured, _is_refused(tool, text, is_error=bool(result.is_error)))

        return call

    return {"direct": direct, "MCP": over_mcp(plain), "MCP, structured": over_mcp(structured)}


def _is_refused(tool: str, text: str, *, is_error: bool) -> bool:
    """Whether the budget was too small; any other error ends the program."""
    if is_error and "is too small" not in text:
        raise SystemExit(f"{tool}: {text[:500]}")
    return is_error


async def measure(graph: KnowledgeGraph, relationships: int) -> list[dict[str, object]]:
    """Call every tool in every way."""
    expected = {name for name, tool in graph.tools(user_id=USER).items() if tool.read_only}
    if set(CALLS) != expected:
        raise SystemExit(f"Tools that read are {sorted(expected)}, called are {sorted(CALLS)}")
    await plant(graph, relationships)
    servers = [make_server(graph, lambda _: USER, toolsets=ALL, structured=flag) for flag in (False, True)]
    async with Client(servers[0]) as plain, Client(servers[1]) as structured:
        ways = ways_of(graph, plain, structured)
        return [await _row(tool, form, ways) for tool in CALLS for form in ("text", "json")]


async def _row(tool: str, form: str, ways: Mapping[str, Call]) -> dict[str, object]:
    share, structured, above, too_small, seconds = 0.0, 0.0, 0, 0, []
    for call in ways.values():
        for budget in BUDGETS:
            started = time.perf_counter()
            answer = await call(tool, CALLS[tool] | {"token_budget": budget, "format": form})
            seconds.append(time.perf_counter() - started)
            if answer.is_too_small and (form == "text" or budget >= ENOUGH_FOR_JSON):
                raise SystemExit(f"{tool}: {answer.text}")
            tokens = estimated_tokens(answer.text)
            share = max(share, tokens / budget)
            structured = max(structured, estimated_tokens(answer.structured) / budget)
            above += tokens > budget
            too_small += answer.is_too_small
    calls = len(ways) * len(BUDGETS)
    return {
        "tool": tool,
        "format": form,
        "calls": calls,
        "most of its budget": share,
        "above": above,
        "structured": structured,
        "refused as too small": too_small,
        "p50 s": p50(seconds),
        "max s": max(seconds),
    }


async def run(where: Server, relationships: int) -> list[dict[str, object]]:
    """Make the graph and measure."""
    settings = Settings(query_timeout=600.0)
    async with open_graph(where, HashingEmbedder(DIMENSIONS), settings, users=[USER]) as graph:
        return await measure(graph, relationships)


def main() -> None:
    """Run from the command line."""
    arguments = parser(__doc__)
    arguments.add_argument("--relationships", type=int, default=100_000, help="of the hub")
    chosen = arguments.parse_args()
    with server(chosen.uri) as where:
        rows = asyncio.run(run(where, chosen.relationships))
    show(f"Answers at a hub with {chosen.relationships:,} relationships", rows)
    above = sum(int(str(row["above"])) for row in rows)
    finish({"relationships": chosen.relationships, "answers above their budget": above}, as_json=chosen.json)
    if above:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
