"""A session of twelve calls in which an agent takes notes of two conversations, over MCP.

The test plays it; `scripts/record_mcp_session.py` plays it too, and writes down what was answered.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp import Client

from kgagent.tools import Payload
from tests.support.mcp_clients import payload_of, text_of

Keys = Mapping[str, str]
"""entity_key of each node that the session has made, by the node's name."""


@dataclass(frozen=True)
class Step:
    """One call.

    Attributes:
        why: what the agent is about.
        tool: the tool that it calls.
        arguments: made from the keys that earlier answers gave.
        succeeds: whether the tool does what it is asked.
    """

    why: str
    tool: str
    arguments: Callable[[Keys], dict[str, Any]]
    succeeds: bool = True


@dataclass(frozen=True)
class Exchange:
    """A call that was made, its answer as a model reads it, and the same for programs."""

    step: Step
    arguments: dict[str, Any]
    text: str
    answer: Payload


def _ends(keys: Keys, first: str = "Ruth Calder", second: str = "Marta Lind") -> dict[str, Any]:
    return {"from_entity_key": keys[first], "to_entity_key": keys[second]}


SESSION = (
    Step(
        "Marta tells of her mentor Ruth. Does the graph know either of them?",
        "explore",
        lambda _: {"text_matches": ["Marta", "Ruth"], "queries": [{"query": "mentor who builds ships"}]},
    ),
    Step(
        "It does not, so Marta is created,",
        "create_node",
        lambda _: {"label": "Person", "name": "Marta Lind", "description": "Keeps this graph; welds and sails."},
    ),
    Step(
        "and Ruth,",
        "create_node",
        lambda _: {"label": "Person", "name": "Ruth Calder", "description": "Naval architect in Bergen."},
    ),
    Step(
        "and what they talk about.",
        "create_node",
        lambda _: {"label": "Concept", "name": "Sailing", "description": "Travelling on water by the force of wind."},
    ),
    Step(
        "How they stand to each other: two relationships in one call.",
        "create_relationships",
        lambda keys: {
            "relationships": [
                {
                    **_ends(keys),
                    "relationship_type": "mentor",
                    "description": "Ruth has guided Marta since her apprenticeship at the yard.",
                    "attitude": 5,
                    "proximity": 4,
                },
                {
                    **_ends(keys, "Marta Lind", "Sailing"),
                    "relationship_type": "practises",
                    "description": "Marta sails every summer in the fjords.",
                    "attitude": 5,
                },
            ]
        },
    ),
    Step(
        "Something happened between them: a note on their relationship.",
        "add_note_to_relationship",
        lambda keys: {
            **_ends(keys),
            "content": "Ruth wrote Marta a letter of recommendation for the shipyard in Gdansk.",
            "lifetime": "year",
        },
    ),
    Step(
        "Marta asks. No node says it; the note on the relationship does.",
        "hybrid_search",
        lambda _: {"query": "who could vouch for me with an employer?", "limit": 3},
    ),
    Step(
        "Weeks later, another conversation: Ruth again. Look before writing.",
        "explore",
        lambda _: {"text_matches": ["ruth calder"]},
    ),
    Step(
        "Creating what is there is refused, and the error says what to do.",
        "create_relationship",
        lambda keys: {**_ends(keys), "relationship_type": "colleague"},
        succeeds=False,
    ),
    Step(
        "So it is updated: they work together now.",
        "update_relationship",
        lambda keys: {
            **_ends(keys),
            "relationship_type": "colleague",
            "description": "Ruth and Marta run the shipyard in Gdansk together.",
            "proximity": 5,
        },
    ),
    Step(
        "Ruth has moved.",
        "update_node",
        lambda keys: {"entity_key": keys["Ruth Calder"], "description": "Naval architect, head of a yard in Gdansk."},
    ),
    Step(
        "Marta asks with whom she works: what is found is true now, and the note is still there.",
        "explore",
        lambda _: {"queries": [{"query": "people I work with"}], "labels": ["Person"]},
    ),
)


async def play(client: Client) -> list[Exchange]:
    """Make the calls one after the other, each with the keys that earlier answers of a structured server gave."""
    keys: dict[str, str] = {}
    exchanges = []
    for step in SESSION:
        arguments = step.arguments(keys)
        result = await client.call_tool(step.tool, arguments)
        answer = payload_of(result)
        if "entity_key" in answer:
            keys[answer["node"]["name"]] = answer["entity_key"]
        exchanges.append(Exchange(step, arguments, text_of(result), answer))
    return exchanges
