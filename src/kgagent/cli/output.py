"""Output: results go to stdout, everything else to stderr.

Text is printed as it is: a style is given with `rich.text.Text`, because markup would also be
read in names of the graph.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from json import dumps
from typing import Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

_UNESCAPED = re.compile("[\x7f-\x9f]")
"""Control characters that JSON may contain as they are."""

_CONTROLS = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0)} - {ord("\t"), ord("\n")})


class SafeConsole(Console):
    """Prints no control characters of what it renders, only its own."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """Render without them."""
        for segment in super().render(renderable, options):
            yield (
                segment
                if segment.control
                else Segment(without_controls(segment.text), segment.style)
            )


@cache
def result_console() -> Console:
    """Console for results, on stdout."""
    return SafeConsole(highlight=False, markup=False)


@cache
def message_console() -> Console:
    """Console for messages and progress, on stderr."""
    return SafeConsole(stderr=True, highlight=False, markup=False)


def without_controls(text: str) -> str:
    """A text without the control characters that a terminal obeys, which stored text can
    contain.
    """
    return text.translate(_CONTROLS)


def print_result(*renderables: RenderableType) -> None:
    """Print results for a person; a text that must not wrap is cut to the width of a terminal."""
    for renderable in renderables:
        console = result_console()
        if isinstance(renderable, Text) and renderable.no_wrap:
            # The console would wrap it all the same: options of its own override those of a text.
            is_cut = console.is_terminal
            console.print(
                renderable, no_wrap=True, overflow="ellipsis" if is_cut else "ignore", crop=is_cut
            )
        else:
            console.print(renderable)


def print_message(message: RenderableType) -> None:
    """Print a message; long lines are wrapped only on a terminal."""
    console = message_console()
    console.print(message, soft_wrap=not console.is_terminal)


def show(payload: Mapping[str, Any], *renderables: RenderableType, json: bool) -> None:
    """Print a result: as one JSON object, or for a person."""
    if json:
        print_json(payload)
    else:
        print_result(*renderables)


def print_json(payload: Mapping[str, Any]) -> None:
    """Print one JSON object for a program; ASCII if the stream may not be able to encode its
    characters.
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    text = dumps(
        payload, indent=2, ensure_ascii=not encoding.lower().startswith("utf"), default=str
    )
    typer.echo(_UNESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text))
