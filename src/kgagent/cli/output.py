"""Output: results go to stdout, everything else to stderr."""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

_UNESCAPED = re.compile("[\x7f-\x9f]")
"""Control characters that JSON may contain as they are."""

_CONTROLS = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0)} - {ord("\t"), ord("\n")})


@cache
def result_console() -> "Console":
    """Console for results, on stdout."""
    return _console()


@cache
def message_console() -> "Console":
    """Console for messages and progress, on stderr."""
    return _console(stderr=True)


def without_controls(text: str) -> str:
    """A text without the control characters that a terminal obeys, which stored text can contain."""
    return text.translate(_CONTROLS)


def _console(*, stderr: bool = False) -> "Console":
    from rich.console import Console
    from rich.segment import Segment

    class SafeConsole(Console):
        """Prints no control characters of what it renders, only its own."""

        def render(self, renderable: "RenderableType", options: "ConsoleOptions | None" = None) -> "Iterator[Segment]":
            for segment in super().render(renderable, options):
                yield segment if segment.control else Segment(without_controls(segment.text), segment.style)

    return SafeConsole(stderr=stderr, highlight=False)


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
    text = json.dumps(payload, indent=2, ensure_ascii=not encoding.lower().startswith("utf"), default=str)
    typer.echo(_UNESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text))
