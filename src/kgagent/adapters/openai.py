"""The agent's tools for OpenAI's models: function schemas in strict form, and answers to the calls that come back."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from openai.types.chat import (
    ChatCompletionFunctionToolParam,
    ChatCompletionMessage,
    ChatCompletionToolMessageParam,
)
from openai.types.responses import FunctionToolParam, Response
from openai.types.responses.response_input_param import FunctionCallOutput

from kgagent.adapters.json_schema import Schema, without_titles
from kgagent.adapters.openai_strict import strict_schema, without_nulls
from kgagent.errors import ConfigurationError
from kgagent.tools import BoundTool
from kgagent.tools.base import dump, failure

LONGEST_DESCRIPTION = 1_024
"""Characters of a function's description that the API takes."""


class OpenAITools:
    """Tools of one user, for the chat completions and the responses API of the `openai` package.

    tools = OpenAITools(graph.tools(user_id="me"))
    completion = await client.chat.completions.create(model=…, messages=messages, tools=tools.chat)
    message = completion.choices[0].message
    messages += [message, *await tools.answer_message(message)]
    """

    def __init__(self, tools: Mapping[str, BoundTool], *, names: Sequence[str] | None = None) -> None:
        """Choose tools.

        Args:
            tools: bound to a user, whom the model cannot choose.
            names: those wanted; None is all of them.

        Raises:
            ConfigurationError: a name is not that of a tool.
        """
        for name in names or ():
            if name not in tools:
                raise ConfigurationError(f"No tool is called {name!r}; there are {', '.join(tools)}")
        self._tools = {name: tools[name] for name in (tools if names is None else names)}
        self._functions = [_Function(tool) for tool in self._tools.values()]
        self._strict = {function.name for function in self._functions if function.strict}

    @property
    def chat(self) -> list[ChatCompletionFunctionToolParam]:
        """What `chat.completions.create` takes as `tools`."""
        return [
            {
                "type": "function",
                "function": {
                    "name": function.name,
                    "description": function.description,
                    "parameters": function.parameters,
                    "strict": function.strict,
                },
            }
            for function in self._functions
        ]

    @property
    def responses(self) -> list[FunctionToolParam]:
        """What `responses.create` takes as `tools`."""
        return [
            {
                "type": "function",
                "name": function.name,
                "description": function.description,
                "parameters": function.parameters,
                "strict": function.strict,
            }
            for function in self._functions
        ]

    async def answer_message(self, message: ChatCompletionMessage) -> list[ChatCompletionToolMessageParam]:
        """Carry out the calls of a message, one after the other, and give a tool message for each.

        What goes wrong is in the answer; nothing is raised into the agent.
        """
        answers: list[ChatCompletionToolMessageParam] = []
        for call in message.tool_calls or ():
            content = (
                await self.call(call.function.name, call.function.arguments)
                if call.type == "function"
                else dump(failure(f"Call a function: tools of type {call.type} are not offered"))
            )
            answers.append({"role": "tool", "tool_call_id": call.id, "content": content})
        return answers

    async def answer_response(self, response: Response) -> list[FunctionCallOutput]:
        """Carry out the function calls of a response, one after the other, and give an output item for each."""
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
        """Carry out one call; arguments and answer are JSON objects.

        In strict form a model says null for what it leaves out, so a null counts as left out.
        """
        # The SDK does not check what servers send, and some send no text here.
        if name not in self._tools:
            return dump(failure(f"No tool is called {str(name)[:100]!r}; there are {', '.join(self._tools)}"))
        if not isinstance(arguments, str | None):
            return dump(failure(f"Arguments must be a JSON object in a text, got {type(arguments).__name__}"))
        if name not in self._strict or arguments is None:
            return await self._tools[name].call_json(arguments)
        return await self._tools[name].call_json(without_nulls(arguments))


class _Function:
    """A tool as a function: strict where its arguments can be said so, else with its schema as it is."""

    def __init__(self, tool: BoundTool) -> None:
        self.name = tool.name
        schema = tool.arguments.model_json_schema()
        strict = strict_schema(schema)
        self.strict = strict is not None
        self.parameters: dict[str, Any] = without_titles(schema) if strict is None else strict
        self.description, self.parameters = described(tool.description, self.parameters)


def described(description: str, parameters: Schema) -> tuple[str, Schema]:
    """A description that fits a function's, and parameters that tell what is left of it."""
    kept, rest = split(description)
    return kept, {**parameters, "description": rest} if rest else parameters


def split(description: str) -> tuple[str, str]:
    """What fits a function's description, whole sentences or clauses of it, and the rest, which its schema tells."""
    if len(description) <= LONGEST_DESCRIPTION:
        return description, ""
    kept = description[:LONGEST_DESCRIPTION]
    end = max(_after(kept, (". ", "; ")), 0) or LONGEST_DESCRIPTION
    return description[:end].rstrip(), description[end:].lstrip()


def _after(text: str, ends: Iterable[str]) -> int:
    return max(text.rfind(end) + len(end) if end in text else 0 for end in ends)
