"""The tools as OpenAI's models see them, through the real SDK over HTTP to a model that follows a
script.
"""

import re
from typing import TYPE_CHECKING, Any

import pytest
from openai import AsyncOpenAI, OpenAI

from kgagent import Settings, SyncKnowledgeGraph
from kgagent.adapters.openai import OpenAITools, SyncOpenAITools
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import ConfigurationError
from kgagent.tools import Toolset
from tests.conftest import DIMENSIONS
from tests.support.openai_models import API_KEY, Body, ScriptedModel, Turn, refusals, scripted_model

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionMessageParam

ENTITY_KEY = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
LEFT_OUT = {
    "neo4j_type": None,
    "attitude": None,
    "proximity": None,
    "confidence": None,
    "salience": None,
}


def create_two(_: list[Body]) -> list[tuple[str, Body]]:
    """Both names at once, as models do; what they leave out is null."""
    return [
        ("create_node", {"label": "Person", "name": name, "description": None, "notes": None})
        for name in ("Ada", "Grace")
    ]


def relate_them(outputs: list[Body]) -> list[tuple[str, Body]]:
    first, second = (ENTITY_KEY.search(output["text"]).group() for output in outputs)  # type: ignore[union-attr]
    note = {"content": "They met in 1952", "lifetime": None, "source_entity_key": None}
    given = {
        "from_entity_key": first,
        "to_entity_key": second,
        "relationship_type": "mentor",
        "description": None,
    }
    return [("create_relationship", LEFT_OUT | given | {"notes": [note, "Ada writes every week"]})]


def look(_: list[Body]) -> list[tuple[str, Body]]:
    question: Body = {"queries": [{"query": "mentor", "threshold": 0.1}], "text_matches": None}
    return [("explore", question), ("explore", {**question, "format": "json"})]


def tell(outputs: list[Body]) -> str:
    assert "-[mentor]-> Grace (Person)" in outputs[-2]["text"]
    return " and ".join(sorted(node["name"] for node in outputs[-1]["nodes"]))


SCRIPT: tuple[Turn, ...] = (create_two, relate_them, look, tell)


def sdk(model: ScriptedModel) -> AsyncOpenAI:
    return AsyncOpenAI(api_key=API_KEY, base_url=model.base_url, max_retries=0)


async def test_a_chat_agent_creates_relates_and_finds(tools: Toolset) -> None:
    functions = OpenAITools(tools, names=list(tools))
    messages: list[ChatCompletionMessageParam] = [
        {"role": "user", "content": "Remember that Ada mentors Grace."}
    ]
    with scripted_model(*SCRIPT) as model:
        async with sdk(model) as client:
            while True:
                completion = await client.chat.completions.create(
                    model="scripted", messages=messages, tools=functions.chat
                )
                message = completion.choices[0].message
                messages.append(message.to_dict())  # type: ignore[arg-type]
                if not message.tool_calls:
                    break
                messages += await functions.answer_message(message)
    assert message.content == "Ada and Grace"
    assert [item["role"] for item in messages[2:4]] == ["tool", "tool"]


async def test_a_responses_agent_creates_relates_and_finds(tools: Toolset) -> None:
    functions = OpenAITools(tools, names=list(tools))
    conversation: list[Any] = [{"role": "user", "content": "Remember that Ada mentors Grace."}]
    with scripted_model(*SCRIPT) as model:
        async with sdk(model) as client:
            while True:
                response = await client.responses.create(
                    model="scripted", input=conversation, tools=functions.responses
                )
                conversation += [item.to_dict() for item in response.output]
                answers = await functions.answer_response(response)
                if not answers:
                    break
                conversation += answers
    assert response.output_text == "Ada and Grace"


def test_synchronous_agents_create_relate_and_find(settings: Settings, user_id: str) -> None:
    with (
        scripted_model(*SCRIPT, *SCRIPT) as model,
        OpenAI(api_key=API_KEY, base_url=model.base_url, max_retries=0) as client,
        SyncKnowledgeGraph.connect(
            settings=settings, embedder=HashingEmbedder(DIMENSIONS)
        ) as graph,
    ):
        functions = SyncOpenAITools(graph.tools(user_id=user_id, toolsets="all"))
        messages: list[ChatCompletionMessageParam] = [
            {"role": "user", "content": "Remember that Ada mentors Grace."}
        ]
        message = None
        while message is None or message.tool_calls:
            completion = client.chat.completions.create(
                model="scripted", messages=messages, tools=functions.chat
            )
            message = completion.choices[0].message
            messages += [message.to_dict(), *functions.answer_message(message)]  # type: ignore[list-item]
        assert message.content == "Ada and Grace"
        functions = SyncOpenAITools(graph.tools(user_id=f"{user_id}-other", toolsets="all"))
        conversation: list[Any] = [{"role": "user", "content": "Remember that Ada mentors Grace."}]
        answers: list[Any] | None = None
        while answers != []:
            response = client.responses.create(
                model="scripted", input=conversation, tools=functions.responses
            )
            answers = [*functions.answer_response(response)]
            conversation += [*(item.to_dict() for item in response.output), *answers]
        assert response.output_text == "Ada and Grace"


def test_tools_of_the_other_kind_of_graph_are_refused_with_what_takes_them(
    settings: Settings, tools: Toolset, user_id: str
) -> None:
    with SyncKnowledgeGraph.connect(
        settings=settings, embedder=HashingEmbedder(DIMENSIONS)
    ) as graph:
        waited_for: Any = graph.tools(user_id=user_id)
        with pytest.raises(
            ConfigurationError, match=r"given a SyncTool; .* go into SyncOpenAITools"
        ):
            OpenAITools(waited_for)
    awaited: Any = tools
    with pytest.raises(ConfigurationError, match=r"given a BoundTool; .* go into OpenAITools"):
        SyncOpenAITools(awaited)


async def test_every_tool_is_offered_and_strict(tools: Toolset) -> None:
    functions = OpenAITools(tools, names=list(tools))
    assert [item["function"]["name"] for item in functions.chat] == list(tools)
    assert [item["name"] for item in functions.responses] == list(tools)
    for item in functions.chat:
        assert refusals(item["function"]) == []
        assert "user_id" not in str(item)
        assert item["function"]["strict"] is True


async def test_errors_are_answers(tools: Toolset) -> None:
    functions = OpenAITools(tools, names=list(tools))
    for name, arguments, error in (
        ("drop_all", "{}", "No tool is called 'drop_all'; there are remember, explore"),
        ("create_node", "{", "Arguments are not JSON"),
        ("create_node", "[]", "Arguments must be a JSON object"),
        ("create_node", '{"label": "Person", "name": null}', "name is missing"),
        (
            "create_node",
            '{"label": "Person", "name": "x", "user_id": "y"}',
            "unknown argument user_id",
        ),
    ):
        answer = await functions.call(name, arguments)
        assert answer.startswith("Error: ")
        assert error in answer
