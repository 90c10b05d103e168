"""A session in which an agent takes notes of two conversations, over MCP and with the toolset
`core`.

The test plays it; `scripts/record_mcp_session.py` plays it too, and records the answers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp import Client

from tests.support.mcp_clients import text_of


@dataclass(frozen=True)
class Step:
    """One call.

    Attributes:
        why: what the agent is about.
        tool: the tool that it calls.
        arguments: the arguments of the call.
        succeeds: whether the tool does what it is asked.
    """

    why: str
    tool: str
    arguments: Mapping[str, Any]
    succeeds: bool = True


@dataclass(frozen=True)
class Exchange:
    """A call, and its answer as a model reads it."""

    step: Step
    text: str
    is_error: bool


SESSION = (
    Step(
        "Marta mentions her mentor Ruth. Does the graph contain either of them?",
        "explore",
        {"text_matches": ["Marta", "Ruth"], "queries": [{"query": "mentor who builds ships"}]},
    ),
    Step(
        "It contains neither. One call stores both people, a topic, and how they are related.",
        "remember",
        {
            "nodes": [
                {
                    "label": "Person",
                    "name": "Marta Lind",
                    "description": "Welder who sails.",
                    "is_owner": True,
                },
                {
                    "label": "Person",
                    "name": "Ruth Calder",
                    "description": "Naval architect in Bergen.",
                },
                {
                    "label": "Concept",
                    "name": "Sailing",
                    "description": "Traveling on water by the force of wind.",
                },
            ],
            "relationships": [
                {
                    "from": "Ruth Calder",
                    "to": "me",
                    "relationship_type": "mentor",
                    "description": "Ruth has guided Marta since her apprenticeship at the yard.",
                    "attitude": 5,
                    "proximity": 4,
                },
                {
                    "from": "me",
                    "to": "Sailing",
                    "relationship_type": "practices",
                    "description": "Marta sails every summer in the fjords.",
                    "attitude": 5,
                },
            ],
        },
    ),
    Step(
        "An event between them becomes a note on their relationship.",
        "add_note_to_relationship",
        {
            "from_entity_key": "Ruth Calder",
            "to_entity_key": "me",
            "content": "Ruth wrote Marta a letter of recommendation for the shipyard in Gdansk.",
            "lifetime": "year",
        },
    ),
    Step(
        "Marta asks a question. No node has the answer, but the note on the relationship does.",
        "hybrid_search",
        {"query": "who could vouch for me with an employer?", "limit": 3},
    ),
    Step(
        "Weeks later, Ruth is mentioned again. The agent searches before it writes.",
        "explore",
        {"text_matches": ["ruth calder"]},
    ),
    Step(
        "Creating a relationship that exists fails, and the error says what to do.",
        "create_relationship",
        {"from_entity_key": "Ruth Calder", "to_entity_key": "me", "relationship_type": "colleague"},
        succeeds=False,
    ),
    Step(
        "The agent updates the relationship instead: they now work together.",
        "update_relationship",
        {
            "from_entity_key": "Ruth Calder",
            "to_entity_key": "me",
            "relationship_type": "colleague",
            "description": "Ruth and Marta run the shipyard in Gdansk together.",
            "proximity": 5,
        },
    ),
    Step(
        "Ruth has moved. `remember` updates the existing node.",
        "remember",
        {
            "nodes": [
                {
                    "label": "Person",
                    "name": "Ruth Calder",
                    "description": "Naval architect, head of a yard in Gdansk.",
                }
            ]
        },
    ),
    Step(
        "Marta asks whom she works with. The result is up to date and still includes the note.",
        "explore",
        {"queries": [{"query": "people I work with"}], "labels": ["Person"]},
    ),
)


async def play(client: Client) -> list[Exchange]:
    """Make the calls one after the other."""
    exchanges = []
    for step in SESSION:
        result = await client.call_tool(step.tool, dict(step.arguments))
        exchanges.append(Exchange(step, text_of(result), bool(result.is_error)))
    return exchanges
