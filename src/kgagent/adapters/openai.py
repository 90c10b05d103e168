"""The agent's tools for OpenAI's models: function schemas in strict form, and answers to the calls that come back."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from openai.types.chat import (
    ChatCompletionFunctionToolParam,
    ChatCompletionMessage,
    ChatCompletionMessageToolCallUnion,
    ChatCompletionToolMessageParam,
)
from openai.types.responses import FunctionToolParam, Response, ResponseFunctionToolCall
from openai.types.responses.response_input_param import FunctionCallOutput

from kgagent.adapters.json_schema import Schema, without_titles
from kgagent.adapters.openai_strict import strict_schema, without_nulls
from kgagent.errors import ConfigurationError
from kgagent.sync import SyncTool
from kgagent.tools import BoundTool
from kgagent.tools.base import dump, failure

ToolT = TypeVar("ToolT", bound=BoundTool | SyncTool)

MAX_DESCRIPTION_LENGTH = 1_024
"""Characters of a function's description that the API takes."""


class _Offered(Generic[ToolT]):
    """What both kinds of tools have in common: functions for a model, and what is asked of them made ready."""

    _kind: type[ToolT]
    _instead: str

    def __init__(self, tools: Mapping[str, ToolT], *, names: Sequence[str] | None = None) -> None:
        """Choose tools.

        Args:
            tools: bound to a user, whom the model cannot choose.
            names: those wanted; None is all of them.

        Raises:
            ConfigurationError: a name is not that of a tool, or the tools are of the other kind of graph.
        """
        for name in names or ():
            if name not in tools:
                raise ConfigurationError(f"No tool is called {name!r}; there are {', '.join(tools)}")
        self._tools: dict[str, ToolT] = {name: tools[name] for name in (tools if names is None else names)}
        for tool in self._tools.values():
            if not isinstance(tool, self._kind):
                raise ConfigurationError(f"{type(self).__name__} was given a {type(tool).__name__}; {self._instead}")
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

    def _refusal(self, name: str, arguments: str | None) -> str | None:
        """Why a call cannot be made, as its answer; the SDK does not check what servers send, and some send no text."""
        if not isinstance(name, str) or name not in self._tools:
            return dump(failure(f"No tool is called {str(name)[:100]!r}; there are {', '.join(self._tools)}"))
        if not isinstance(arguments, str | None):
            return dump(failure(f"Arguments must be a JSON object in a text, got {type(arguments).__name__}"))
        return None

    def _given(self, name: str, arguments: str | None) -> str:
        """In strict form a model says null for what it leaves out, so a null counts as left out there."""
        if not arguments or name not in self._strict:
            return arguments or ""
        return without_nulls(arguments)


class OpenAITools(_Offered[BoundTool]):
    """Tools of one user, for the chat completions and the responses API of the `openai` package.

    tools = OpenAITools(graph.tools(user_id="me"))
    completion = await client.chat.completions.create(model=…, messages=messages, tools=tools.chat)
    message = completion.choices[0].message
    messages += [message, *await tools.answer_message(message)]
    """

    _kind = BoundTool
    _instead = "the tools of a SyncKnowledgeGraph go into SyncOpenAITools"

    async def answer_message(self, message: ChatCompletionMessage) -> list[ChatCompletionToolMessageParam]:
        """Carry out the calls of a message, one after the other, and give a tool message for each.

        What goes wrong is in the answer; nothing is raised into the agent.
        """
        return [
            _tool_message(call, await self.call(call.function.name, call.function.arguments))
            if call.type == "function"
            else _tool_message(call, _not_offered(call))
            for call in message.tool_calls or ()
        ]

    async def answer_response(self, response: Response) -> list[FunctionCallOutput]:
        """Carry out the function calls of a response, one after the other, and give an output item for each."""
        return [
            _output(item, await self.call(item.name, item.arguments))
            for item in response.output
            if item.type == "function_call"
        ]

    async def call(self, name: str, arguments: str | None) -> str:
        """Carry out one call; arguments and answer are JSON objects."""
        refusal = self._refusal(name, arguments)
        return refusal or await self._tools[name].call_json(self._given(name, arguments))


class SyncOpenAITools(_Offered[SyncTool]):
    """The tools of a `SyncKnowledgeGraph`: as `OpenAITools`, with calls that are waited for."""

    _kind = SyncTool
    _instead = "the tools of a KnowledgeGraph go into OpenAITools"

    def answer_message(self, message: ChatCompletionMessage) -> list[ChatCompletionToolMessageParam]:
        """Carry out the calls of a message, as `OpenAITools.answer_message` does."""
        return [
            _tool_message(call, self.call(call.function.name, call.function.arguments))
            if call.type == "function"
            else _tool_message(call, _not_offered(call))
            for call in message.tool_calls or ()
        ]

    def answer_response(self, response: Response) -> list[FunctionCallOutput]:
        """Carry out the function calls of a response, as `OpenAITools.answer_response` does."""
        return [
            _output(item, self.call(item.name, item.arguments))
            for item in response.output
            if item.type == "function_call"
        ]

    def call(self, name: str, arguments: str | None) -> str:
        """Carry out one call; arguments and answer are JSON objects."""
        refusal = self._refusal(name, arguments)
        return refusal or self._tools[name].call_json(self._given(name, arguments))


def _not_offered(call: ChatCompletionMessageToolCallUnion) -> str:
    return dump(failure(f"Call a function: tools of type {call.type} are not offered"))


def _tool_message(call: ChatCompletionMessageToolCallUnion, content: str) -> ChatCompletionToolMessageParam:
    return {"role": "tool", "tool_call_id": call.id, "content": content}


def _output(call: ResponseFunctionToolCall, output: str) -> FunctionCallOutput:
    return {"type": "function_call_output", "call_id": call.call_id, "output": output}


class _Function:
    """A tool as a function: strict where its arguments can be said so, else with its schema as it is."""

    def __init__(self, tool: BoundTool | SyncTool) -> None:
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
    if len(description) <= MAX_DESCRIPTION_LENGTH:
        return description, ""
    kept = description[:MAX_DESCRIPTION_LENGTH]
    end = max(_after(kept, (". ", "; ")), 0) or MAX_DESCRIPTION_LENGTH
    return description[:end].rstrip(), description[end:].lstrip()


def _after(text: str, ends: Iterable[str]) -> int:
    return max(text.rfind(end) + len(end) if end in text else 0 for end in ends)
