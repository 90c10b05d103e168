"""The option --html: writes a search result as a page in one file."""

from pathlib import Path
from typing import TYPE_CHECKING

from kgagent.adapters.view import (
    ViewGraph,
    Vocabulary,
    build_explore_view,
    build_search_view,
    file_page,
    write_page,
)

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.models import ExploreRequest, ExploreResult
    from kgagent.models.hybrid import HybridSearchRequest, HybridSearchResult


async def write_explore_page(
    file: Path, graph: "KnowledgeGraph", request: "ExploreRequest", result: "ExploreResult", *, user_id: str
) -> None:
    """Write the result of `explore`.

    Raises:
        InputError: the file cannot be written.
        StoreError: the database failed.
    """
    view = await build_explore_view(graph.retrieval, request, result, user_id=user_id)
    _write(file, graph, view, user_id)


async def write_search_page(
    file: Path, graph: "KnowledgeGraph", request: "HybridSearchRequest", result: "HybridSearchResult", *, user_id: str
) -> None:
    """Write the result of a hybrid search.

    Raises:
        InputError: the file cannot be written.
        StoreError: the database failed.
    """
    view = await build_search_view(graph.retrieval, request, result, user_id=user_id)
    _write(file, graph, view, user_id)


def _write(file: Path, graph: "KnowledgeGraph", view: ViewGraph, user_id: str) -> None:
    from rich.text import Text

    from kgagent.cli.output import print_message

    write_page(file, file_page(view, Vocabulary.of(graph.ontology), user_id))
    print_message(Text(f"Wrote {file}: open it in a browser", style="green"))
