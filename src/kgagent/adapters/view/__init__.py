"""A page in which a person searches and views a graph, served to one user or written to one
file.
"""

from kgagent.adapters.view.page import file_page
from kgagent.adapters.view.server import ViewServer, view_server
from kgagent.adapters.view.view_builder import (
    DEFAULT_NEIGHBORS,
    MAX_NEIGHBORS,
    build_view,
)
from kgagent.adapters.view.view_model import ViewGraph, Vocabulary

__all__ = [
    "DEFAULT_NEIGHBORS",
    "MAX_NEIGHBORS",
    "ViewGraph",
    "ViewServer",
    "Vocabulary",
    "build_view",
    "file_page",
    "view_server",
]
