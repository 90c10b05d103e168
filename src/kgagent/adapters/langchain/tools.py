"""The agent's tools as LangChain tools, for any chat model that calls tools."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, BaseToolkit, StructuredTool
from pydantic import ConfigDict
from typing_extensions import override

from kgagent.adapters.chosen_tools import choose_tools, offered_together
from kgagent.adapters.event_loops import run_on, wait_on
from kgagent.adapters.json_schema import arguments_schema, described_schema
from kgagent.errors import ConfigurationError
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.sync import SyncKnowledgeGraph
from kgagent.tools import BoundTool, Payload
from kgagent.tools.payload import failure


class KnowledgeGraphToolkit(BaseToolkit):
    """Tools that read and write the graph of one user.

    toolkit = KnowledgeGraphToolkit(graph=graph, user_id="me")
    agent = create_agent(model, toolkit.get_tools())

    Attributes:
        graph: an open graph. `invoke` needs a `SyncKnowledgeGraph`, or a thread other than that of
            the graph's event loop.
        user_id: owner of the graph; the model cannot choose it.
        toolsets: names of the toolsets to offer; None offers those of the graph's settings, by
            default "core".
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

    They work with `invoke` and `ainvoke`, from any thread and event loop. Each returns text for the
    model, with the payload (a dictionary) as the artifact of its message, and never raises into the
    agent: the message of a failed call has the status "error".

    Args:
        graph: an open graph. `invoke` needs a `SyncKnowledgeGraph`, or a thread other than that of
            the graph's event loop.
        user_id: owner of the graph; the model cannot choose it.
        toolsets: names of the toolsets to offer, such as "core" or ("core", "patterns"); None
            offers those of the graph's settings, by default "core".
        names: names of the tools to offer, instead of toolsets.

    Raises:
        InputError: the user id is empty, or a toolset is unknown.
        ConfigurationError: the name of a tool is unknown, or both toolsets and names are given.
    """
    opened = graph.graph if isinstance(graph, SyncKnowledgeGraph) else graph
    if names is not None and toolsets is not None:
        raise ConfigurationError("Give either toolsets or names: names replace the toolsets")
    tools = opened.tools(user_id=user_id, toolsets=toolsets)
    return [
        langchain_tool(tool, opened)
        for tool in offered_together(choose_tools(tools, names)).values()
    ]


def langchain_tool(
    tool: BoundTool, graph: KnowledgeGraph, *, without: Sequence[str] = ()
) -> StructuredTool:
    """Return a bound tool as a tool of LangChain.

    Args:
        tool: the tool.
        graph: the open graph.
        without: names of arguments that the model is not told of, and cannot give.
    """

    async def answer(arguments: dict[str, Any]) -> tuple[str, Payload]:
        given = {name: value for name, value in arguments.items() if name not in without}
        answer = await tool.call_text(given)
        return answer.text, answer.payload

    def invoke(**arguments: Any) -> tuple[str, Payload]:  # noqa: ANN401
        try:
            return wait_on(graph.loop, answer(arguments), instead="ainvoke")
        except ConfigurationError as error:
            return f"Error: {error}", failure(str(error))

    async def ainvoke(**arguments: Any) -> tuple[str, Payload]:  # noqa: ANN401
        try:
            return await run_on(graph.loop, answer(arguments))
        except ConfigurationError as error:
            return f"Error: {error}", failure(str(error))

    schema = arguments_schema(tool.arguments, tool.neo4j_types)
    for name in without:
        schema["properties"].pop(name, None)
    description, parameters = described_schema(tool.description, schema)
    return _GraphTool(
        name=tool.name,
        description=description,
        # LangChain would derive another schema from the class of the arguments; the tool checks
        # them itself.
        args_schema=parameters,
        func=invoke,
        coroutine=ainvoke,
        response_format="content_and_artifact",
        metadata={"read_only": tool.read_only},
    )


class _GraphTool(StructuredTool):
    """A tool with an artifact for failed calls too, which LangChain's `ToolException` does not
    have.
    """

    @override
    def run(self, *args: Any, **kwargs: Any) -> Any:
        return _with_status(super().run(*args, **kwargs))

    @override
    async def arun(self, *args: Any, **kwargs: Any) -> Any:
        return _with_status(await super().arun(*args, **kwargs))


def _with_status(output: object) -> object:
    if isinstance(output, ToolMessage) and not output.artifact["success"]:
        output.status = "error"
    return output
