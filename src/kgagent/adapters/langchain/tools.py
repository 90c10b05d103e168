"""The agent's tools as LangChain tools, for any chat model that calls tools."""

import asyncio
from collections.abc import Sequence
from copy import copy
from typing import Any

from langchain_core.tools import BaseTool, BaseToolkit, StructuredTool
from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.v1 import ValidationError as V1ValidationError

from kgagent.adapters.event_loops import run_on, wait_on
from kgagent.adapters.function_description import split_description
from kgagent.errors import ConfigurationError
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.sync import SyncKnowledgeGraph
from kgagent.tools import BoundTool
from kgagent.tools.payload import dump, failure
from kgagent.validation import explain_validation_error


class KnowledgeGraphToolkit(BaseToolkit):
    """Tools that read and write the graph of one user.

    toolkit = KnowledgeGraphToolkit(graph=graph, user_id="me")
    agent = create_agent(model, toolkit.get_tools())

    Attributes:
        graph: an open graph. `invoke` needs a `SyncKnowledgeGraph`, or a thread other than that of the graph's event
            loop.
        user_id: owner of the graph; the model cannot choose it.
        names: names of the tools to offer; None offers all of them.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    graph: KnowledgeGraph | SyncKnowledgeGraph
    user_id: str
    names: tuple[str, ...] | None = None

    def get_tools(self) -> list[BaseTool]:
        """Return the tools; see the function `get_tools`."""
        return get_tools(self.graph, user_id=self.user_id, names=self.names)


def get_tools(
    graph: KnowledgeGraph | SyncKnowledgeGraph, *, user_id: str, names: Sequence[str] | None = None
) -> list[BaseTool]:
    """Return LangChain tools that read and write the graph of one user.

    They work with `invoke` and `ainvoke`, from any thread and event loop. Each returns a JSON object and never raises
    into the agent.

    Args:
        graph: an open graph. `invoke` needs a `SyncKnowledgeGraph`, or a thread other than that of the graph's event
            loop.
        user_id: owner of the graph; the model cannot choose it.
        names: names of the tools to offer; None offers all of them.

    Raises:
        InputError: the user id is empty.
        ConfigurationError: a name is unknown.
    """
    opened = graph.graph if isinstance(graph, SyncKnowledgeGraph) else graph
    tools = opened.tools(user_id=user_id)
    for name in names or ():
        if name not in tools:
            raise ConfigurationError(f"No tool is called {name!r}; there are {', '.join(tools)}")
    return [_structured(tools[name], opened.loop) for name in (tools if names is None else names)]


def _structured(tool: BoundTool, loop: asyncio.AbstractEventLoop) -> StructuredTool:
    def invoke(*unnamed: Any, **arguments: Any) -> str:  # noqa: ANN401
        try:
            return dump(wait_on(loop, tool(*unnamed, **arguments), instead="ainvoke"))
        except ConfigurationError as error:
            return dump(failure(str(error)))

    async def ainvoke(*unnamed: Any, **arguments: Any) -> str:  # noqa: ANN401
        try:
            return dump(await run_on(loop, tool(*unnamed, **arguments)))
        except ConfigurationError as error:
            return dump(failure(str(error)))

    def refuse(error: ValidationError | V1ValidationError) -> str:
        if isinstance(error, ValidationError):
            return dump(failure(explain_validation_error(error, tool.arguments)))
        return dump(failure(str(error)))

    description, rest = split_description(tool.description)
    return StructuredTool(
        name=tool.name,
        description=description,
        args_schema=_described(tool.arguments, rest) if rest else tool.arguments,
        func=invoke,
        coroutine=ainvoke,
        handle_validation_error=refuse,
        metadata={"read_only": tool.read_only},
    )


def _described(arguments: type[BaseModel], rest: str) -> type[BaseModel]:
    """Arguments with the rest of a description that exceeds OpenAI's limit, in the last argument's description.

    LangChain drops the description of a schema, but not those of arguments.
    """
    name, field = list(arguments.model_fields.items())[-1]
    described = copy(field)
    described.description = " ".join(filter(None, (field.description, rest)))
    fields: dict[str, Any] = {name: (field.annotation, described)}
    return create_model(arguments.__name__, __base__=arguments, **fields)
