"""kgagent recall on the command line, where its arguments are not plain pairs."""

from typing import Annotated

import typer

from kgagent.cli.options import User
from kgagent.cli.recall import client


def recall(
    *,
    user: User = None,
    tokens: Annotated[
        int, typer.Option(help="Maximum tokens of what is recalled.", min=50)
    ] = client.TOKENS,
    deadline: Annotated[
        float, typer.Option(help="Seconds after which nothing is recalled.", min=0)
    ] = client.DEADLINE,
) -> None:
    """Print what the graph holds on the prompt on stdin: a text, or the JSON of a hook.

    Nothing is printed if nothing relevant is found or the deadline passes; the file hooks.log in
    the folder of the daemon says why, and the exit code is 0. A daemon, which the first call starts
    and which ends after half an hour without one, keeps the graph open. What stands between
    <private> and </private> is not searched for.
    """
    client.recall(user, tokens, deadline)
