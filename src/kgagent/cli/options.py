"""Options that several commands take."""

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, and nothing else there.")]
User = Annotated[str | None, typer.Option("--user", help="Whose graph. [dim]\\[KGAGENT_USER_ID, else me][/dim]")]
Html = Annotated[
    Path | None,
    typer.Option(
        "--html", metavar="FILE", help="Write it as one page to look at, which needs no server and no network."
    ),
]
Hops = Annotated[
    int | None,
    typer.Option(min=0, max=5, help="Steps to go on from hits; if left out, one, to what is like the query too."),
]
ShowPassword = Annotated[bool, typer.Option("--show-password", help="Show the local Neo4j's password too.")]
