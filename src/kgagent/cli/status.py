"""kgagent status: which Neo4j and which embedder would be used."""

import asyncio
from typing import TYPE_CHECKING

from kgagent.cli.options import Json, ShowPassword
from kgagent.cli.server_facts import Facts, facts_table, server_facts

if TYPE_CHECKING:
    from kgagent.settings import Settings


def status(*, json: Json = False, show_password: ShowPassword = False) -> None:
    """Show which Neo4j and which embedder the other commands use; start nothing."""
    import typer

    from kgagent.cli.output import emit, show
    from kgagent.settings import load_settings

    settings = load_settings()
    facts = _remote(settings) if settings.neo4j_uri else _local(settings, show_password=show_password)
    facts |= {"embedder": _embedder(settings), "user": settings.user_id}
    if json:
        emit(facts)
    else:
        show(_headline(facts), facts_table({key: value for key, value in facts.items() if key != "running"}))
    if facts.get("error"):
        raise typer.Exit(1)


def _remote(settings: "Settings") -> Facts:
    from kgagent.errors import StoreError
    from kgagent.graph.store import Store

    async def version() -> str:
        store = await Store.connect(
            settings.neo4j_uri or "",
            username=settings.neo4j_username,
            password=settings.neo4j_password.get_secret_value() if settings.neo4j_password else None,
            database=settings.neo4j_database,
        )
        await store.close()
        return store.features.version

    facts: Facts = {"server": "NEO4J_URI", "uri": settings.neo4j_uri}
    try:
        return {"running": True, **facts, "version": asyncio.run(version())}
    except StoreError as error:
        return {"running": False, **facts, "error": str(error)}


def _local(settings: "Settings", *, show_password: bool) -> Facts:
    from kgagent.local import LocalNeo4j

    found = LocalNeo4j.from_settings(settings).status()
    facts: Facts = {"running": found.running, "server": "local"}
    if found.info is None:
        return facts | {"version": found.version, "home": str(found.home)}
    return facts | {"ready": found.ready, **server_facts(found.info, show_password=show_password)}


def _embedder(settings: "Settings") -> str:
    from kgagent.embedding.factory import make_embedder
    from kgagent.errors import ConfigurationError

    try:
        embedder = make_embedder(settings)
    except ConfigurationError as error:
        return f"none: {error}"
    return str(embedder)


def _headline(facts: Facts) -> str:
    if facts.get("error"):
        return "[red]Neo4j cannot be used.[/red]"
    if facts["running"]:
        return "[green]Neo4j is running.[/green]"
    return "The local Neo4j is not running; `kgagent up` starts it, and so does any command that needs it."
