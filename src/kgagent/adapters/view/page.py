"""The page as one self-contained HTML file with styles, scripts and data."""

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from kgagent.adapters.view.view_model import ViewGraph, Vocabulary

GRAPH_LIBRARY = "vendor/cytoscape-3.34.4.min.js"
SCRIPTS = (
    GRAPH_LIBRARY,
    "dom.js",
    "format.js",
    "labels.js",
    "layout.js",
    "graph.js",
    "details.js",
    "results.js",
    "legend.js",
    "page.js",
)
FIRST_SCRIPT = "theme.js"
"""Runs before the page is drawn, so that a dark page does not flash light."""

_ASSETS = resources.files(__package__).joinpath("assets")
_PLACEHOLDER = re.compile(r"%%([a-z_]+)%%")


def file_page(view: ViewGraph, vocabulary: Vocabulary, user_id: str) -> str:
    """A page that displays one graph and makes no requests."""
    return _page(
        {
            "user": user_id,
            "search": None,
            "graph": json.loads(view.model_dump_json(exclude_none=True)),
        },
        vocabulary,
        content_policy(),
    )


def served_page(vocabulary: Vocabulary, user_id: str) -> str:
    """A page that searches through the server that serves it."""
    return _page(
        {"user": user_id, "search": "search", "graph": None},
        vocabulary,
        content_policy(served=True),
    )


def content_policy(*, served: bool = False) -> str:
    """The Content-Security-Policy: own scripts and styles only, and requests to the own server if
    `served`.

    Trusted types turn every attempt to parse text as HTML into an error.
    """
    digests = " ".join(_digest(asset(name)) for name in (FIRST_SCRIPT, *SCRIPTS))
    rules = [
        "default-src 'none'",
        f"script-src {digests}",
        f"style-src {_digest(asset('page.css'))}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
    return "; ".join([*rules, *(["connect-src 'self'"] if served else [])])


def script_data(data: Mapping[str, Any]) -> str:
    """JSON for a script element, escaped so that it cannot end the element or open a comment."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def asset(name: str) -> str:
    """Text of an asset file of the package."""
    return _ASSETS.joinpath(name).read_text("utf-8")


def _page(data: Mapping[str, Any], vocabulary: Vocabulary, policy: str) -> str:
    parts = {
        "policy": html.escape(policy, quote=True),
        "style": asset("page.css"),
        "theme": asset(FIRST_SCRIPT),
        "data": script_data({**data, "vocabulary": vocabulary.model_dump(mode="json")}),
        "scripts": "\n".join(f"<script>{asset(name)}</script>" for name in SCRIPTS),
    }
    return _PLACEHOLDER.sub(lambda match: parts[match[1]], asset("page.html"))


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
