"""kgagent up, down and status: the local Neo4j, and which server the other commands use."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer
from rich.table import Table
from rich.text import Text

from kgagent.cli.options import Json, ShowPassword
from kgagent.cli.output import show
from kgagent.errors import ConfigurationError, StoreError
from kgagent.formatting import without_credentials

if TYPE_CHECKING:
    from kgagent.local import LocalNeo4j, ServerInfo
    from kgagent.settings import Settings

Facts = dict[str, str | int | bool | None]


def up(*, json: Json = False, show_password: ShowPassword = False) -> None:
    """Start the local Neo4j, and download it first if necessary. If it is running, print its
    address.
    """
    from kgagent.cli.progress import RichProgress

    facts = _server_facts(_local_server().up(RichProgress()), show_password=show_password)
    headline = Text.assemble(("Neo4j is running.", "green"), " `kgagent down` stops it.")
    show({"running": True, **facts}, headline, _table(facts), json=json)


def down(*, json: Json = False) -> None:
    """Stop the local Neo4j; its data is kept."""
    stopped = _local_server().down()
    text = "Neo4j is stopped; its data is kept." if stopped else "The local Neo4j was not running."
    show({"stopped": stopped}, text, json=json)


def status(*, json: Json = False, show_password: ShowPassword = False) -> None:
    """Show which Neo4j and which embedder the other commands use; nothing is started."""
    from kgagent.settings import load_settings

    settings = load_settings()
    facts = (
        _remote_status(settings)
        if settings.neo4j_uri
        else _local_status(show_password=show_password)
    )
    facts |= {"embedder": _embedder_name(settings), "user": settings.user_id}
    table = _table({key: value for key, value in facts.items() if key != "running"})
    show(facts, _headline(facts), table, json=json)
    if facts.get("error"):
        raise typer.Exit(1)


def _local_server() -> "LocalNeo4j":
    """The local server of the settings."""
    from kgagent.local import LocalNeo4j
    from kgagent.settings import load_settings

    return LocalNeo4j.from_settings(load_settings())


def _remote_status(settings: "Settings") -> Facts:
    from kgagent.graph.connection import connect

    async def version() -> str:
        store = await connect(
            settings.neo4j_uri or "",
            username=settings.neo4j_username,
            password=settings.neo4j_password.get_secret_value()
            if settings.neo4j_password
            else None,
            database=settings.neo4j_database,
        )
        await store.close()
        return store.features.version

    facts: Facts = {"server": "NEO4J_URI", "uri": without_credentials(settings.neo4j_uri or "")}
    try:
        return {"running": True, **facts, "version": asyncio.run(version())}
    except StoreError as error:
        return {"running": False, **facts, "error": str(error)}


def _local_status(*, show_password: bool) -> Facts:
    status = _local_server().status()
    facts: Facts = {"running": status.running, "server": "local"}
    if status.info is None:
        return facts | {"version": status.version, "home": str(status.home)}
    return facts | {
        "ready": status.ready,
        **_server_facts(status.info, show_password=show_password),
    }


def _server_facts(info: "ServerInfo", *, show_password: bool) -> Facts:
    """Facts about a running server; the password only on request."""
    facts: Facts = {"uri": info.uri, "username": info.username}
    if show_password:
        facts["password"] = info.password
    return facts | {
        "version": info.version,
        "pid": info.pid,
        "home": str(info.home),
        "log": str(info.log),
    }


def _embedder_name(settings: "Settings") -> str:
    from kgagent.embedding.factory import make_embedder

    try:
        return str(make_embedder(settings))
    except ConfigurationError as error:
        return f"none: {error}"


def _headline(facts: Facts) -> Text:
    if facts.get("error"):
        return Text("Neo4j is not available.", style="red")
    if facts["running"]:
        return Text("Neo4j is running.", style="green")
    return Text(
        "The local Neo4j is not running; `kgagent up` and every command that needs it start it."
    )


def _table(facts: Mapping[str, object]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if value is not None:
            table.add_row(name.replace("_", " "), Text(str(value)))
    return table
