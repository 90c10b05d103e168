"""An error of kgagent's is one red line and exit code 1."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import typer

from kgagent.errors import KgAgentError, LocalServerError

ParametersT = ParamSpec("ParametersT")


def plain_errors(command: Callable[ParametersT, None]) -> Callable[ParametersT, None]:
    """Have a command tell its errors plainly; others are faults of the program and keep their trace."""

    @wraps(command)
    def told(*args: ParametersT.args, **kwargs: ParametersT.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except KgAgentError as error:
            from rich.text import Text

            from kgagent.cli.output import say

            say(Text(_told(error), style="red"))
            raise typer.Exit(1) from error

    return told


def _told(error: KgAgentError) -> str:
    """The error in one line; the local server's keeps the lines of its log."""
    return str(error) if isinstance(error, LocalServerError) else " ".join(str(error).split())
