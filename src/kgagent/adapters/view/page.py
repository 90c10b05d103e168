"""The page as one HTML file that needs nothing else: styles, scripts and data stand in it."""

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from kgagent.adapters.view.model import ViewGraph, Vocabulary
from kgagent.errors import InputError
from kgagent.files import write_private_file

GRAPH_LIBRARY = "vendor/cytoscape-3.34.4.min.js"
SCRIPTS = (
    GRAPH_LIBRARY,
    "dom.js",
    "words.js",
    "labels.js",
    "layout.js",
    "graph.js",
    "details.js",
    "results.js",
    "legend.js",
    "page.js",
)
FIRST_SCRIPT = "theme.js"
"""Runs before anything is drawn, so that a dark page is not light for a moment."""

_ASSETS = resources.files(__package__).joinpath("assets")
_PLACE = re.compile(r"%%([a-z_]+)%%")


def file_page(seen: ViewGraph, vocabulary: Vocabulary, user_id: str) -> str:
    """A page that shows one graph and asks nobody for anything."""
    return _page(
        {"user": user_id, "search": None, "graph": json.loads(seen.model_dump_json(exclude_none=True))},
        vocabulary,
        content_policy(),
    )


def served_page(vocabulary: Vocabulary, user_id: str) -> str:
    """A page that asks the server that it came from."""
    return _page({"user": user_id, "search": "search", "graph": None}, vocabulary, content_policy(served=True))


def write_page(path: Path, page: str) -> None:
    """Write a page; a new file can be read by its owner alone.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        write_private_file(path, page)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}. Name another file") from error


def content_policy(*, served: bool = False) -> str:
    """What a browser lets the page do: run its own scripts and styles, and ask its own server where it has one.

    Trusted types make every way of turning text into HTML an error.
    """
    scripts = " ".join(_digest(asset(name)) for name in (FIRST_SCRIPT, *SCRIPTS))
    rules = [
        "default-src 'none'",
        f"script-src {scripts}",
        f"style-src {_digest(asset('page.css'))}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
    return "; ".join([*rules, *(["connect-src 'self'"] if served else [])])


def script_data(data: Mapping[str, Any]) -> str:
    """JSON that can stand in a script element: nothing in it ends the element or begins a comment."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def asset(name: str) -> str:
    """A part of the page as it ships with the package."""
    return _ASSETS.joinpath(name).read_text("utf-8")


def _page(data: Mapping[str, Any], vocabulary: Vocabulary, policy: str) -> str:
    parts = {
        "policy": html.escape(policy, quote=True),
        "style": asset("page.css"),
        "theme": asset(FIRST_SCRIPT),
        "data": script_data({**data, "vocabulary": vocabulary.model_dump(mode="json")}),
        "scripts": "\n".join(f"<script>{asset(name)}</script>" for name in SCRIPTS),
    }
    return _PLACE.sub(lambda place: parts[place[1]], asset("page.html"))


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
