"""Serving the page to one person on this machine, for the graph of one user."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import quote

from kgagent.adapters.view.model import ViewGraph, Vocabulary
from kgagent.adapters.view.page import served_page
from kgagent.adapters.view.seen import searched_graph
from kgagent.adapters.view.site import ADDRESS, Site, SiteServer, ViewRequest
from kgagent.errors import ConfigurationError, InputError
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.models.hybrid import HybridSearchOptions


@dataclass(frozen=True)
class ViewServer:
    """A server that runs.

    Attributes:
        url: where the page is; whoever knows it can read the user's graph, and nobody else.
    """

    url: str

    def address(self, query: str = "") -> str:
        """Where the page is, with something to search for at once."""
        return f"{self.url}#{quote(query, safe='')}" if query else self.url


@asynccontextmanager
async def view_server(graph: KnowledgeGraph, user_id: str, *, port: int = 0) -> AsyncIterator[ViewServer]:
    """Serve the page while the block runs.

    Args:
        graph: the graph.
        user_id: whose part of it; no request can choose another.
        port: port on 127.0.0.1; 0 takes a free one.

    Raises:
        ConfigurationError: the port cannot be had.
        InputError: the user id is empty.
    """
    if not user_id.strip():
        raise InputError("user_id must not be empty: the page shows one user's graph")
    loop = asyncio.get_running_loop()

    def search(asked: ViewRequest) -> ViewGraph:
        options = HybridSearchOptions(limit=asked.limit)
        found = searched_graph(graph.retrieval, asked.q, user_id, options, around=asked.around)
        return asyncio.run_coroutine_threadsafe(found, loop).result()

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
        # Its threads wait for this loop, so the loop must not wait for them.
        await asyncio.to_thread(server.shutdown)
        server.server_close()
