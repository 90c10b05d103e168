"""The agent's tools as LangChain tools, for any chat model that calls tools."""

import asyncio
from collections.abc import Sequence
from copy import copy
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ValidationError, create_model
from pydantic.v1 import ValidationError as OldValidationError

from kgagent.adapters.event_loops import run_on, wait_on
from kgagent.adapters.function_description import split_description
from kgagent.errors import ConfigurationError
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.sync import SyncKnowledgeGraph
from kgagent.tools import BoundTool
from kgagent.tools.base import dump, failure
from kgagent.validation import explain_validation_error


def get_tools(
    graph: KnowledgeGraph | SyncKnowledgeGraph, *, user_id: str, names: Sequence[str] | None = None
) -> list[BaseTool]:
    """Make LangChain tools that read and write the graph of one user.

    They work with `invoke` and `ainvoke`, from any thread and event loop. Each answers a JSON object and never raises
    into the agent.

    Args:
        graph: an open graph. `invoke` needs a `SyncKnowledgeGraph`, or to run in another thread than the graph's loop.
        user_id: whose graph; the model cannot choose it.
        names: the tools wanted; None is all of them.

    Raises:
        InputError: the user id is empty.
        ConfigurationError: a name is not that of a tool.
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

    description, rest = split_description(tool.description)
    return StructuredTool(
        name=tool.name,
        description=description,
        args_schema=_telling(tool.arguments, rest) if rest else tool.arguments,
        func=invoke,
        coroutine=ainvoke,
        handle_validation_error=_explained,
        metadata={"read_only": tool.read_only},
    )


def _telling(arguments: type[BaseModel], rest: str) -> type[BaseModel]:
    """Arguments whose last one also tells what is too long for a function's description at OpenAI.

    LangChain leaves out what a schema says of itself, but not what it says of an argument.
    """
    name, field = list(arguments.model_fields.items())[-1]
    told = copy(field)
    told.description = " ".join(filter(None, (field.description, rest)))
    fields: dict[str, Any] = {name: (field.annotation, told)}
    return create_model(arguments.__name__, __base__=arguments, **fields)


def _explained(error: ValidationError | OldValidationError) -> str:
    return dump(failure(explain_validation_error(error) if isinstance(error, ValidationError) else str(error)))
