"""Opening the graph that the settings lead to, for one command."""

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.settings import Settings

ResultT = TypeVar("ResultT")


def with_graph(
    work: "Callable[[KnowledgeGraph], Awaitable[ResultT]]",
    *,
    settings: "Settings",
    ensure_schema: bool = True,
) -> ResultT:
    """Open the graph, do the work, close it; progress shows on stderr.

    Args:
        work: what to do with the graph.
        settings: lead to it.
        ensure_schema: whether missing constraints and indexes are made, and misfits are errors.

    Raises:
        KgAgentError: the graph cannot be opened, or the work failed.
    """
    from kgagent.cli.progress import RichProgress
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.observability import observer_of, write_json_logs

    if settings.log_format == "json":
        write_json_logs()

    async def main() -> ResultT:
        connecting = KnowledgeGraph.connect(
            settings=settings,
            progress=RichProgress(),
            ensure_schema=ensure_schema,
            observer=observer_of(settings),
        )
        async with connecting as graph:
            return await work(graph)

    return asyncio.run(main())


def user_of(settings: "Settings", given: str | None) -> str:
    """Whose graph a command works on.

    Raises:
        InputError: an empty user id was given.
    """
    from kgagent.errors import InputError

    if given is not None and not given.strip():
        raise InputError("--user must not be empty")
    return given or settings.user_id
