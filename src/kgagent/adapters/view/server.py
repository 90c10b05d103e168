"""Serves the page on this machine, for one user's graph."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import quote

from kgagent.adapters.view.page import served_page
from kgagent.adapters.view.site import ADDRESS, Site, SiteServer, ViewRequest
from kgagent.adapters.view.view_builder import build_overview, search_and_build_view
from kgagent.adapters.view.view_model import ViewGraph, Vocabulary
from kgagent.errors import ConfigurationError
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.models.hybrid import HybridSearchRequest
from kgagent.validation import check_user_id


@dataclass(frozen=True)
class ViewServer:
    """A running server.

    Attributes:
        url: address of the page. It contains a secret token: whoever knows it can read the user's graph.
    """

    url: str

    def address(self, query: str = "") -> str:
        """Address of the page that starts with a search for `query`."""
        return f"{self.url}#{quote(query, safe='')}" if query else self.url


@asynccontextmanager
async def view_server(graph: KnowledgeGraph, user_id: str, *, port: int = 0) -> AsyncIterator[ViewServer]:
    """Serve the page while the block runs.

    Args:
        graph: an open graph.
        user_id: owner of the graph; requests cannot choose another user.
        port: port on 127.0.0.1; 0 uses a free port.

    Raises:
        ConfigurationError: the port is not available.
        InputError: the user id is empty.
    """
    check_user_id(user_id)
    loop = asyncio.get_running_loop()

    def search(request: ViewRequest) -> ViewGraph:
        return asyncio.run_coroutine_threadsafe(view_of(request), loop).result()

    async def view_of(request: ViewRequest) -> ViewGraph:
        neighbors = request.neighbors
        if not request.query:
            return await build_overview(graph.retrieval, user_id=user_id, limit=request.limit, max_neighbors=neighbors)
        search = HybridSearchRequest(query=request.query, limit=request.limit)
        return await search_and_build_view(graph.retrieval, search, user_id=user_id, max_neighbors=neighbors)

    site = Site(search, served_page(Vocabulary.of(graph.ontology), user_id))
    try:
        server = SiteServer(site, port)
    except OSError as error:
        raise ConfigurationError(f"Cannot listen on {ADDRESS}:{port}: {error.strerror or error}") from error
    thread = threading.Thread(target=server.serve_forever, name="kgagent-view", daemon=True)
    thread.start()
    try:
        yield ViewServer(f"http://{ADDRESS}:{server.server_port}/{site.token}/")
    finally:
        # The server's threads wait for this event loop, so the loop must not block on them.
        await asyncio.to_thread(server.shutdown)
        server.server_close()
