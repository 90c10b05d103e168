"""Opens the graph that the settings describe, for one command."""

import asyncio
from typing import TYPE_CHECKING, TypeVar

from kgagent.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.settings import Settings

ResultT = TypeVar("ResultT")


def run_with_graph(
    work: "Callable[[KnowledgeGraph], Awaitable[ResultT]]",
    *,
    settings: "Settings | None" = None,
    ensure_schema: bool = True,
) -> ResultT:
    """Open the graph, run the work, and close the graph; progress is shown on stderr.

    Args:
        work: called with the open graph.
        settings: settings of the connection and the embedder; None reads them.
        ensure_schema: whether to create missing constraints and indexes, and to fail if existing ones do not fit.

    Raises:
        KgAgentError: the graph cannot be opened, or the work failed.
    """
    from kgagent.cli.progress import RichProgress
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.observability import observer_from_settings, write_json_logs
    from kgagent.settings import load_settings

    settings = settings or load_settings()
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


def run_for_user(
    work: "Callable[[KnowledgeGraph, str], Awaitable[ResultT]]", user: str | None, *, ensure_schema: bool = True
) -> tuple[str, ResultT]:
    """Run work on the graph of one user; see `run_with_graph`.

    Args:
        work: called with the open graph and the user.
        user: the value of --user; None is the user of the settings.
        ensure_schema: as for `run_with_graph`.

    Returns:
        The user, and what the work returned.
    """
    from kgagent.settings import load_settings

    settings = load_settings()
    user_id = resolve_user_id(settings, user)
    return user_id, run_with_graph(lambda graph: work(graph, user_id), settings=settings, ensure_schema=ensure_schema)


def resolve_user_id(settings: "Settings", user: str | None) -> str:
    """The value of --user, or else the user of the settings.

    Raises:
        InputError: --user is empty.
    """
    if user is not None and not user.strip():
        raise InputError("--user must not be empty")
    return user or settings.user_id
