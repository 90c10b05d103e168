"""Options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from kgagent.ray_workers import RayEngine

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object, and nothing else, to stdout.")
]
User = Annotated[
    str | None,
    typer.Option("--user", help="Owner of the graph. [dim]\\[KGAGENT_USER_ID, else me][/dim]"),
]
UserOrAll = Annotated[
    str | None, typer.Option("--user", help="Owner of the records. [dim]\\[all users][/dim]")
]
Readable = Annotated[
    list[str] | None,
    typer.Option(
        "--readable",
        metavar="OWNER",
        help="Another owner whose records are read too. Can be repeated.",
    ),
]
Trusted = Annotated[
    str | None,
    typer.Option(
        "--trust",
        metavar="CLASS",
        help="How far it is trusted: own, known or unknown. [dim]\\[KGAGENT_TRUST, else own][/dim]",
    ),
]
Html = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE",
        help=(
            "Write the result as one HTML page that needs neither a server nor a network "
            "connection."
        ),
    ),
]
ShowPassword = Annotated[
    bool, typer.Option("--show-password", help="Also print the password of the local Neo4j.")
]

Engine = Literal["direct", "ray"]

EmbeddingEngine = Annotated[
    Engine,
    typer.Option(
        help="How texts are embedded. direct: by requests from this process. "
        "ray: by worker processes of Ray Data, which also write."
    ),
]

Workers = Annotated[int, typer.Option(help="With --engine ray: number of worker processes.", min=1)]

RayAddress = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help=(
            'With --engine ray: an existing cluster, host:port or "auto". Default: Ray is started '
            "on this machine."
        ),
        show_default=False,
    ),
]


def ray_engine(engine: Engine, workers: int, address: str | None) -> "RayEngine | None":
    """The engine that the options choose; None is this process."""
    from kgagent.ray_workers import RayEngine

    return RayEngine(workers=workers, address=address) if engine == "ray" else None
