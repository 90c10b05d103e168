"""A conversation, and scripted models that read it: they explore, and remember what was said."""

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
SAID: Body = {
    "nodes": [{"label": label, "name": name} for name, label in NODES.items()],
    "relationships": [
        {
            "from": "Ruth",
            "to": "Iris",
            "relationship_type": "mentor",
            "description": "Ruth taught Iris to draw hulls.",
            "attitude": 5,
            "notes": [NOTE],
        },
        {
            "from": "Ruth",
            "to": "Halden Yard",
            "relationship_type": "works at",
            "description": "Ruth begins at Halden Yard in March 2026.",
            "proximity": 3,
        },
    ],
    "source": "another source",
    "part_done": True,
}
NOTHING: Calls = [("remember", {"part_done": True})]


def chat_model(served: ScriptedModel) -> ChatOpenAI:
    """The real client of an OpenAI-compatible server."""
    return ChatOpenAI(
        model="scripted", base_url=served.base_url, api_key=SecretStr(API_KEY), max_retries=0
    )


def careful_reader(outputs: Sequence[object]) -> Calls:
    """Explore, then remember what was said."""
    if not outputs:
        return [
            ("explore", {"text_matches": list(NODES), "queries": [{"query": "who taught Iris?"}]})
        ]
    return [("remember", SAID)]


def looking_reader(outputs: Sequence[object]) -> Calls:
    """Look, and find nothing worth keeping."""
    return NOTHING if outputs else [("explore", {"text_matches": ["rain"]})]


class PlainModel(BaseChatModel):
    """A chat model of no provider's: it is not asynchronous and counts no tokens."""

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
        said = careful_reader([m for m in messages if isinstance(m, ToolMessage)])
        calls = [{"name": name, "args": arguments, "id": name} for name, arguments in said]
        message = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])
