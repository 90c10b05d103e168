"""The agent's tools for OpenAI's models: function schemas in strict form, and answers to the calls
of a model.
"""

from collections.abc import Iterator, Mapping, Sequence

from openai.types.chat import (
    ChatCompletionFunctionToolParam,
    ChatCompletionMessage,
    ChatCompletionToolMessageParam,
)
from openai.types.responses import FunctionToolParam, Response
from openai.types.responses.response_input_param import FunctionCallOutput

from kgagent.adapters.chosen_tools import choose_tools, offered_together
from kgagent.adapters.json_schema import Schema, arguments_schema, described_schema, strict_schema
from kgagent.blocking import Portal, unwrap
from kgagent.errors import ConfigurationError
from kgagent.sync import SyncTool
from kgagent.tools import BoundTool
from kgagent.tools.toolsets import why_missing


class OpenAITools:
    """Tools of one user, for the chat completions and the responses API of the `openai` package.

    tools = OpenAITools(graph.tools(user_id="me"))
    completion = await client.chat.completions.create(model=…, messages=messages, tools=tools.chat)
    message = completion.choices[0].message
    messages += [message, *await tools.answer_message(message)]
    """

    def __init__(
        self, tools: Mapping[str, BoundTool], *, names: Sequence[str] | None = None
    ) -> None:
        """Choose tools.

        Args:
            tools: the tools of a `KnowledgeGraph`, bound to a user. Without names, the toolsets
                with which they were made are offered, else those of the graph's settings, by
                default "core".
            names: names of the tools to offer, instead of toolsets.

        Raises:
            ConfigurationError: a name is unknown, or the tools are those of a `SyncKnowledgeGraph`.
        """
        chosen = choose_tools(tools, names)
        for tool in chosen.values():
            if not isinstance(tool, BoundTool):
                raise ConfigurationError(
                    f"OpenAITools was given a {type(tool).__name__}; "
                    "the tools of a SyncKnowledgeGraph go into SyncOpenAITools"
                )
        self._tools = offered_together(chosen)

    @property
    def chat(self) -> list[ChatCompletionFunctionToolParam]:
        """The functions, as `chat.completions.create` takes them in `tools`."""
        return [
            {
                "type": "function",
                "function": {
                    "name": name,
                    "description": description,
                    "parameters": parameters,
                    "strict": True,
                },
            }
            for name, description, parameters in self._functions()
        ]

    @property
    def responses(self) -> list[FunctionToolParam]:
        """The functions, as `responses.create` takes them in `tools`."""
        return [
            {
                "type": "function",
                "name": name,
                "description": description,
                "parameters": parameters,
                "strict": True,
            }
            for name, description, parameters in self._functions()
        ]

    async def answer_message(
        self, message: ChatCompletionMessage
    ) -> list[ChatCompletionToolMessageParam]:
        """Run the calls of a message, one after the other, and return a tool message for each.

        An error is part of the answer; nothing is raised into the agent.
        """
        answers: list[ChatCompletionToolMessageParam] = []
        for call in message.tool_calls or ():
            if call.type == "function":
                content = await self.call(call.function.name, call.function.arguments)
            else:
                content = f"Error: Call a function: tools of type {call.type} are not offered"
            answers.append({"role": "tool", "tool_call_id": call.id, "content": content})
        return answers

    async def answer_response(self, response: Response) -> list[FunctionCallOutput]:
        """Run the function calls of a response, one after the other, and return an output item for
        each.
        """
        return [
            {
                "type": "function_call_output",
                "call_id": item.call_id,
                "output": await self.call(item.name, item.arguments),
            }
            for item in response.output
            if item.type == "function_call"
        ]

    async def call(self, name: str, arguments: str | None) -> str:
        """Run one call; the arguments are a JSON object, the answer is text."""
        # The SDK does not check the types of what servers send.
        if name not in self._tools:
            return f"Error: {why_missing(str(name), self._tools)}"
        return (await self._tools[name].call_text(arguments)).text

    def _functions(self) -> Iterator[tuple[str, str, Schema]]:
        """Name, description and strict schema of each tool."""
        for tool in self._tools.values():
            yield (
                tool.name,
                *described_schema(
                    tool.description,
                    strict_schema(arguments_schema(tool.arguments, tool.neo4j_types)),
                ),
            )


def unwrap_tools(tools: Mapping[str, SyncTool]) -> tuple[dict[str, BoundTool], Portal]:
    """Return the asynchronous tools behind synchronous ones, and the portal to their event loop.

    Raises:
        ConfigurationError: there are none, or they are asynchronous already.
    """
    unwrapped: dict[str, BoundTool] = {}
    portal: Portal | None = None
    for name, tool in tools.items():
        if not isinstance(tool, SyncTool):
            raise ConfigurationError(
                f"SyncOpenAITools was given a {type(tool).__name__}; the tools of a KnowledgeGraph "
                f"go into OpenAITools"
            )
        unwrapped[name], portal = unwrap(tool)
    if portal is None:
        raise ConfigurationError("SyncOpenAITools was given no tools")
    return unwrapped, portal
