"""How the local Neo4j is told of."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from kgagent.local import ServerInfo

Facts = dict[str, str | int | bool | None]


def server_facts(info: "ServerInfo", *, show_password: bool) -> Facts:
    """What may be told of a running server; its password only to who asks for it."""
    facts: Facts = {"uri": info.uri, "username": info.username}
    if show_password:
        facts["password"] = info.password
    return facts | {"version": info.version, "pid": info.pid, "home": str(info.home), "log": str(info.log)}


def facts_table(facts: Mapping[str, object]) -> "Table":
    """Facts as two columns."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if value is not None:
            table.add_row(name.replace("_", " "), Text(str(value)))
    return table
