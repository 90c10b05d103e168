"""A conversation, and a scripted model that reads it: it searches, and writes only what is
missing.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from kgagent.ingestion import Source, Turn
from tests.support.openai_models import API_KEY, Body, Calls, ScriptedModel

CALL = Source(
    name="Call with Ruth",
    date=datetime(2026, 1, 1, 18, tzinfo=UTC),
    turns=(
        Turn(speaker="Iris", text="So you really leave Oslo?"),
        Turn(
            speaker="Ruth",
            text="Yes, I begin at Halden Yard in March. They build ferries that run on hydrogen.",
        ),
        Turn(
            speaker="Iris",
            text="I would never have drawn a hull without you, you taught me all of it.",
        ),
        Turn(
            speaker="Ruth",
            text="You were the best apprentice I had. Come and see the yard in April!",
        ),
    ),
)

NODES = {"Iris": "Person", "Ruth": "Person", "Halden Yard": "Entity"}
NOTE = "Ruth invited Iris to see Halden Yard in April 2026."


def chat_model(served: ScriptedModel) -> ChatOpenAI:
    """The real client of an OpenAI-compatible server."""
    return ChatOpenAI(
        model="scripted", base_url=served.base_url, api_key=SecretStr(API_KEY), max_retries=0
    )


def careful_reader(outputs: list[Body]) -> Calls | str:
    """Look; create what is missing; relate it, or where it is related, correct it; add a note; say
    what was done.
    """
    if not outputs:
        return [
            ("explore", {"text_matches": list(NODES), "queries": [{"query": "who taught Iris?"}]})
        ]
    assert not any("not a valid tool" in str(output) for output in outputs), outputs
    keys = {node["name"]: node["entity_key"] for node in outputs[0].get("nodes", ())}
    keys |= {
        name: name
        for name, label in NODES.items()
        if f"{name} ({label} " in outputs[0].get("text", "")
    }
    keys |= {output["node"]["name"]: output["entity_key"] for output in outputs if "node" in output}
    refused = [output["error"] for output in outputs if "exists already" in output.get("error", "")]
    keys |= {
        name: name
        for name in NODES
        if name not in keys and any(repr(name) in error for error in refused)
    }
    if missing := [name for name in NODES if name not in keys]:
        return [
            ("create_node", {"label": NODES[name], "name": name, "description": None})
            for name in missing
        ]
    mentor = {
        "from_entity_key": keys["Ruth"],
        "to_entity_key": keys["Iris"],
        "relationship_type": "mentor",
        "description": "Ruth taught Iris to draw hulls.",
        "attitude": 5,
    }
    works = {
        "from_entity_key": keys["Ruth"],
        "to_entity_key": keys["Halden Yard"],
        "relationship_type": "works at",
        "description": "Ruth begins at Halden Yard in March 2026.",
        "proximity": 3,
    }
    related = [
        output for output in outputs if "relationship" in output or "already exists" in str(output)
    ]
    if len(related) < 2:
        return [("create_relationship", mentor), ("create_relationship", works)]
    if len(related) == 2 and not any("Added note" in str(output) for output in outputs):
        ends = {key: mentor[key] for key in ("from_entity_key", "to_entity_key")}
        note = {"content": NOTE, "lifetime": "forever", "source_entity_key": "of another source"}
        return [("update_relationship", mentor), ("add_note_to_relationship", ends | note)]
    return "I kept who Ruth and Iris are to each other, where Ruth works, and the invitation."


class PlainModel(BaseChatModel):
    """A chat model of no provider's: it is not asynchronous, counts no tokens and gives its calls
    no ids.
    """

    @property
    def _llm_type(self) -> str:
        return "plain"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **_: Any
    ) -> "PlainModel":
        assert tools
        assert tool_choice is None
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        del stop, run_manager
        said = careful_reader(
            [json.loads(str(m.content)) for m in messages if isinstance(m, ToolMessage)]
        )
        if isinstance(said, str):
            message = AIMessage(said)
        else:
            calls = [{"name": name, "args": arguments, "id": None} for name, arguments in said]
            message = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])
