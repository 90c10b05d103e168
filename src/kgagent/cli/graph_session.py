"""Opens the graph that the settings describe, for one command."""

import asyncio
from typing import TYPE_CHECKING, TypeVar

from kgagent.errors import ConfigurationError, InputError

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
    reads: bool = False,
) -> ResultT:
    """Open the graph, run the work, and close the graph; progress is shown on stderr.

    Args:
        work: called with the open graph.
        settings: settings of the connection and the embedder; None reads them.
        ensure_schema: whether to create missing constraints and indexes, and to fail if existing
            ones do not fit.
        reads: whether the work only reads; then a database of other programs, which has no graph,
            stays as it is.

    Raises:
        KgAgentError: the graph cannot be opened, or the work failed.
    """
    from kgagent.cli.progress import RichProgress
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.observability import observer_from_settings
    from kgagent.settings import load_settings

    settings = settings or load_settings()

    async def main() -> ResultT:
        connecting = KnowledgeGraph.connect(
            settings=settings,
            progress=RichProgress(),
            ensure_schema=ensure_schema and not reads,
            observer=observer_from_settings(settings),
        )
        async with connecting as graph:
            if reads:
                await _ensure_own_schema(graph)
            return await work(graph)

    return asyncio.run(main())


def run_for_user(
    work: "Callable[[KnowledgeGraph, str], Awaitable[ResultT]]",
    user: str | None,
    *,
    ensure_schema: bool = True,
    reads: bool = False,
) -> tuple[str, ResultT]:
    """Run work on the graph of one user; see `run_with_graph`.

    Args:
        work: called with the open graph and the user.
        user: the value of --user; None is the user of the settings.
        ensure_schema: as for `run_with_graph`.
        reads: likewise.

    Returns:
        The user, and what the work returned.
    """
    from kgagent.settings import load_settings

    settings = load_settings()
    user_id = resolve_user_id(settings, user)
    return user_id, run_with_graph(
        lambda graph: work(graph, user_id),
        settings=settings,
        ensure_schema=ensure_schema,
        reads=reads,
    )


async def _ensure_own_schema(graph: "KnowledgeGraph") -> None:
    """Create what is missing, unless other programs have nodes here and kgagent has none.

    Raises:
        ConfigurationError: the database has no graph of kgagent.
    """
    from kgagent.graph.schema_parts import OWN_LABELS
    from kgagent.graph.statements import statement
    from kgagent.knowledge_graph import services_of

    services = services_of(graph)
    if await services.schema.is_absent():
        rows = await services.store.read(
            statement("count_unadopted_nodes"), {"own_labels": sorted(OWN_LABELS)}
        )
        if count := sum(row["count"] for row in rows):
            raise ConfigurationError(
                f"The database has {count:,} nodes of other programs and no graph of kgagent. "
                "`kgagent adopt --dry-run` shows what making them searchable means; "
                "`kgagent init` begins a graph beside them"
            )
    await services.schema.ensure()


def resolve_user_id(settings: "Settings", user: str | None) -> str:
    """The value of --user, or else the user of the settings.

    Raises:
        InputError: --user is empty.
    """
    if user is not None and not user.strip():
        raise InputError("--user must not be empty")
    return user or settings.user_id
