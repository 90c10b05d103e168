"""Opens the graph that the settings describe, for one command."""

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.settings import Settings

ResultT = TypeVar("ResultT")


def run_with_graph(
    work: "Callable[[KnowledgeGraph], Awaitable[ResultT]]",
    *,
    settings: "Settings",
    ensure_schema: bool = True,
) -> ResultT:
    """Open the graph, run the work, and close the graph; progress is shown on stderr.

    Args:
        work: called with the open graph.
        settings: settings of the connection and the embedder.
        ensure_schema: whether to create missing constraints and indexes, and to fail if existing ones do not fit.

    Raises:
        KgAgentError: the graph cannot be opened, or the work failed.
    """
    from kgagent.cli.progress import RichProgress
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.observability import observer_from_settings, write_json_logs

    if settings.log_format == "json":
        write_json_logs()

    async def main() -> ResultT:
        connecting = KnowledgeGraph.connect(
            settings=settings,
            progress=RichProgress(),
            ensure_schema=ensure_schema,
            observer=observer_from_settings(settings),
        )
        async with connecting as graph:
            return await work(graph)

    return asyncio.run(main())


def resolve_user_id(settings: "Settings", user: str | None) -> str:
    """The value of --user, or else the user of the settings.

    Raises:
        InputError: --user is empty.
    """
    from kgagent.errors import InputError

    if user is not None and not user.strip():
        raise InputError("--user must not be empty")
    return user or settings.user_id
