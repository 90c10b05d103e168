"""Output: results go to stdout, everything else to stderr."""

import json
import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


@cache
def result_console() -> "Console":
    """Console for results, on stdout."""
    from rich.console import Console

    return Console(highlight=False)


@cache
def message_console() -> "Console":
    """Console for messages and progress, on stderr."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=False)


def print_result(*renderables: "RenderableType") -> None:
    """Print results for a person; a text that must not wrap is cut to the width of a terminal."""
    from rich.text import Text

    for renderable in renderables:
        console = result_console()
        if isinstance(renderable, Text) and renderable.no_wrap:
            # The console would wrap it all the same: options of its own override those of a text.
            is_cut = console.is_terminal
            console.print(renderable, no_wrap=True, overflow="ellipsis" if is_cut else "ignore", crop=is_cut)
        else:
            console.print(renderable)


def print_message(message: "RenderableType") -> None:
    """Print a message; long lines are wrapped only on a terminal."""
    console = message_console()
    console.print(message, soft_wrap=not console.is_terminal)


def print_json(payload: Mapping[str, Any]) -> None:
    """Print one JSON object for a program."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    typer.echo(json.dumps(payload, indent=2, ensure_ascii=not encoding.lower().startswith("utf"), default=str))
