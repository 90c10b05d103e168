"""The agent's tools as LangChain tools, for any chat model that calls tools."""

import asyncio
from collections.abc import Sequence
from copy import copy
from typing import Any

from langchain_core.tools import BaseTool, BaseToolkit, StructuredTool
from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.v1 import ValidationError as V1ValidationError

from kgagent.adapters.chosen_tools import choose_tools
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
        toolsets: names of the toolsets to offer; None offers those of the graph's settings, by default "core".
        names: names of the tools to offer, instead of toolsets.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    graph: KnowledgeGraph | SyncKnowledgeGraph
    user_id: str
    toolsets: str | tuple[str, ...] | None = None
    names: tuple[str, ...] | None = None

    def get_tools(self) -> list[BaseTool]:
        """Return the tools; see the function `get_tools`."""
        return get_tools(self.graph, user_id=self.user_id, toolsets=self.toolsets, names=self.names)


def get_tools(
    graph: KnowledgeGraph | SyncKnowledgeGraph,
    *,
    user_id: str,
    toolsets: str | Sequence[str] | None = None,
    names: Sequence[str] | None = None,
) -> list[BaseTool]:
    """Return LangChain tools that read and write the graph of one user.

    They work with `invoke` and `ainvoke`, from any thread and event loop. Each returns a JSON object and never raises
    into the agent.

    Args:
        graph: an open graph. `invoke` needs a `SyncKnowledgeGraph`, or a thread other than that of the graph's event
            loop.
        user_id: owner of the graph; the model cannot choose it.
        toolsets: names of the toolsets to offer, such as "core" or ("core", "patterns"); None offers those of the
            graph's settings, by default "core".
        names: names of the tools to offer, instead of toolsets.

    Raises:
        InputError: the user id is empty, or a toolset is unknown.
        ConfigurationError: the name of a tool is unknown, or both toolsets and names are given.
    """
    opened = graph.graph if isinstance(graph, SyncKnowledgeGraph) else graph
    if names is not None and toolsets is not None:
        raise ConfigurationError("Give either toolsets or names: names replace the toolsets")
    tools = opened.tools(user_id=user_id, toolsets=toolsets)
    return [_structured(tool, opened.loop) for tool in choose_tools(tools, names).values()]


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
