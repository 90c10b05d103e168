"""Where output goes: results to stdout, everything else to stderr."""

import json
import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


@cache
def results() -> "Console":
    """The console of results."""
    from rich.console import Console

    return Console(highlight=False)


@cache
def messages() -> "Console":
    """The console of messages and progress."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=False)


def show(*renderables: "RenderableType") -> None:
    """Show results to a person."""
    for renderable in renderables:
        results().print(renderable)


def say(message: "RenderableType") -> None:
    """Tell a person something beside the results; what is too long for the line is wrapped only on a terminal."""
    console = messages()
    console.print(message, soft_wrap=not console.is_terminal)


def emit(payload: Mapping[str, Any]) -> None:
    """Print one JSON object for a script."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    typer.echo(json.dumps(payload, indent=2, ensure_ascii=not encoding.lower().startswith("utf"), default=str))
