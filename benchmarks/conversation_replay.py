"""What it costs an agent to keep a history of conversations: calls, and tokens written and read.

    python benchmarks/conversation_replay.py [--json]

Replays `conversations.yaml`, 19 conversations with the tool calls that an agent makes after each,
through an MCP client on the toolset core, and then asks questions about them. Written are the
arguments of the calls, read are their answers.
"""

import asyncio
import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from _common import finish, open_graph, p50, p95, parser, server, show
from mcp import Client
from mcp.types import TextContent

from kgagent import KnowledgeGraph, Settings
from kgagent.adapters.mcp import HttpOptions, http_server
from kgagent.adapters.mcp.definitions import tool_definitions
from kgagent.answers.token_budget import estimated_tokens
from kgagent.embedding.local import LocalEmbedder

_FAILED = re.compile(r"^(Error|Failed):", re.MULTILINE)

CONVERSATIONS = Path(__file__).with_name("conversations.yaml")

QUESTIONS = {
    "Who runs the Rabnitz mill now?": "Eva Pichler",
    "How long did Lena take for the half marathon?": "2:04",
    "Who leads the new shop Kornblume am Markt?": "Tarik Demir",
    "What did the new oven of the bakery cost?": "38,000 euros",
    "When did Clara and Paul marry?": "12 September 2026",
    "Where did Clara and Paul meet?": "stable at three in the morning",
    "Who teaches Portuguese?": "Ana Sousa",
    "Where does Matteo work from October?": "own office in Graz",
    "How does Lena know Ivana?": "shared a flat in Zagreb",
    "What did Tarik bake for the summer market?": "simit sold out",
}
"""Questions, and what an answer must contain."""


@dataclass(frozen=True)
class Row:
    """The cost of keeping one conversation.

    Attributes:
        date: its date.
        said: tokens of the conversation.
        calls: number of calls.
        written: tokens of the arguments.
        read: tokens of the answers.
        failures: answers that report an error or a failed item.
    """

    date: str
    said: int
    calls: int
    written: int
    read: int
    failures: tuple[str, ...]


def conversations() -> list[dict[str, Any]]:
    """The conversations, each with its date, text and calls."""
    loaded: list[dict[str, Any]] = yaml.safe_load(CONVERSATIONS.read_text("utf-8"))
    return loaded


async def replay(client: Client, history: Sequence[dict[str, Any]]) -> list[Row]:
    """Keep each conversation with its calls."""
    rows = []
    for one in history:
        calls = [(tool, arguments) for call in one["calls"] for tool, arguments in call.items()]
        answers = [await _answer(client, tool, arguments) for tool, arguments in calls]
        rows.append(
            Row(
                date=str(one["date"]),
                said=estimated_tokens(one["said"]),
                calls=len(calls),
                written=sum(
                    estimated_tokens(json.dumps(given, ensure_ascii=False)) for _, given in calls
                ),
                read=sum(map(estimated_tokens, answers)),
                failures=tuple(filter(_FAILED.search, answers)),
            )
        )
    return rows


async def unanswered(client: Client) -> dict[str, str]:
    """The questions whose answers do not contain what they must, with those answers."""
    answers = {
        question: await _answer(client, "hybrid_search", {"query": question})
        for question in QUESTIONS
    }
    return {question: text for question, text in answers.items() if QUESTIONS[question] not in text}


async def _answer(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    result = await client.call_tool(tool, arguments)
    return "".join(content.text for content in result.content if isinstance(content, TextContent))


async def run(graph: KnowledgeGraph, user_id: str) -> tuple[list[Row], dict[str, str]]:
    """Replay all conversations for a user, and ask the questions."""
    async with (
        http_server(graph, HttpOptions(user_id=user_id, toolsets="core")) as running,
        Client(running.url) as client,
    ):
        return await replay(client, conversations()), await unanswered(client)


async def main() -> None:
    """Run it."""
    asked = parser(__doc__).parse_args()
    user_id = f"benchmark-{uuid.uuid4()}"
    with server(asked.uri) as where:
        async with open_graph(where, LocalEmbedder(), Settings(), users=[user_id]) as graph:
            rows, missing = await run(graph, user_id)
            definitions = json.dumps(
                [
                    one.model_dump(mode="json", by_alias=True, exclude_none=True)
                    for one in tool_definitions(graph.ontology, "core")
                ],
                ensure_ascii=False,
            )
    show(
        "cost of a conversation, in tokens",
        [vars(row) | {"failures": len(row.failures)} for row in rows],
    )
    for failure in (failure for row in rows for failure in row.failures):
        print(failure)
    for question, text in missing.items():
        print(f"{question}\n{text}\n")
    finish(
        {
            "conversations": len(rows),
            "calls": sum(row.calls for row in rows),
            "failures": sum(len(row.failures) for row in rows),
            "said_tokens": sum(row.said for row in rows),
            "written_tokens": sum(row.written for row in rows),
            "read_tokens": sum(row.read for row in rows),
            "written_tokens_p50": p50([row.written for row in rows]),
            "written_tokens_p95": p95([row.written for row in rows]),
            "read_tokens_p50": p50([row.read for row in rows]),
            "read_tokens_p95": p95([row.read for row in rows]),
            "definition_tokens": estimated_tokens(definitions),
            "questions": len(QUESTIONS),
            "answered": len(QUESTIONS) - len(missing),
        },
        as_json=asked.json,
    )


if __name__ == "__main__":
    asyncio.run(main())
