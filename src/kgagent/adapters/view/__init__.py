"""A page in which a person searches and sees a graph: served to one person, or written as one file."""

from kgagent.adapters.view.model import ViewGraph, Vocabulary
from kgagent.adapters.view.page import file_page, write_page
from kgagent.adapters.view.seen import AROUND, MAX_AROUND, explored_graph, searched_graph, surrounded_graph
from kgagent.adapters.view.server import ViewServer, view_server

__all__ = [
    "AROUND",
    "MAX_AROUND",
    "ViewGraph",
    "ViewServer",
    "Vocabulary",
    "explored_graph",
    "file_page",
    "searched_graph",
    "surrounded_graph",
    "view_server",
    "write_page",
]
