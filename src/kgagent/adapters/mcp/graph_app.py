"""The MCP App that shows the graph of an answer: a `ui://` resource, and the graph in the results
of searches.
"""

import logging
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID, client_supports_apps
from mcp.types import (
    CallToolRequestParams,
    ReadResourceResult,
    Resource,
    TextResourceContents,
    Tool,
)
from pydantic import ValidationError

from kgagent.adapters.mcp.calls import Context, Meta
from kgagent.adapters.view import SEARCHES, Vocabulary, app_page, build_view
from kgagent.errors import KgAgentError
from kgagent.ontology import Ontology
from kgagent.search import RetrievalService
from kgagent.tools import Payload

URI = "ui://kgagent/graph.html"
ANSWER = "kgagent/graph"
"""The key of the graph in the `_meta` of a result, which hosts give to the app and not to the
model.
"""

_log = logging.getLogger(__name__)


class GraphApp:
    """The app of graphs of an ontology."""

    extensions: ClassVar[dict[str, dict[str, Any]]] = {EXTENSION_ID: {}}

    def __init__(self, ontology: Ontology) -> None:
        self._page = app_page(Vocabulary.of(ontology), ANSWER)
        self.resource = Resource(
            uri=URI,
            name="graph",
            title="Knowledge graph",
            description="Shows the graph of an answer of explore or hybrid_search.",
            mime_type=APP_MIME_TYPE,
        )

    def read(self) -> ReadResourceResult:
        """The page, which needs nothing from any network."""
        contents = TextResourceContents(
            uri=URI, mime_type=APP_MIME_TYPE, text=self._page, meta={"ui": {"prefersBorder": True}}
        )
        return ReadResourceResult(contents=[contents])

    def definition(self, tool: Tool) -> Tool:
        """The definition of a tool, which names the app if it shows the tool's answers."""
        return (
            tool.model_copy(update={"meta": {"ui": {"resourceUri": URI}}})
            if tool.name in SEARCHES
            else tool
        )

    async def meta_of(
        self,
        params: CallToolRequestParams,
        payload: Payload,
        context: Context,
        retrieval: RetrievalService,
        user_id: str,
    ) -> Meta | None:
        """The graph of an answer, for a client that has not said that it shows no apps.

        Args:
            params: name of the tool, and the model's arguments.
            payload: the answer; it is complete without the graph.
            context: the client's request.
            retrieval: searches of the user's graph.
            user_id: owner of the graph.
        """
        tool, arguments = params.name, params.arguments or {}
        capabilities = context.session.client_capabilities
        if tool not in SEARCHES or not payload["success"]:
            return None
        if capabilities is not None and not client_supports_apps(context):
            return None
        try:
            queries = list(_queries(arguments)) or [tool]
            view = await build_view(retrieval, payload, user_id=user_id, queries=queries)
        except (KgAgentError, ValidationError):
            _log.warning(
                "The graph of an answer of %s could not be built",
                tool,
                exc_info=True,
                extra={"tool": tool},
            )
            return None
        return {ANSWER: view.model_dump(mode="json", exclude_none=True)}


def _queries(arguments: Mapping[str, Any]) -> Iterator[str]:
    """The texts that were searched for, in any form that the tools accept."""
    for name in ("query", "queries", "text_matches"):
        given = arguments.get(name)
        for item in given if isinstance(given, list) else [given]:
            text = item.get("query") if isinstance(item, Mapping) else item
            if isinstance(text, str) and text.strip():
                yield text
