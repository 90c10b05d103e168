"""What a search found, as a page in a file."""

from pathlib import Path
from typing import TYPE_CHECKING

from kgagent.adapters.view import ViewGraph, Vocabulary, explored_graph, file_page, surrounded_graph, write_page

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.models import ExploreRequest, ExploreResult
    from kgagent.models.hybrid import FusionStrategy, HybridSearchResult


async def write_explored(
    file: Path, graph: "KnowledgeGraph", user_id: str, request: "ExploreRequest", result: "ExploreResult"
) -> None:
    """Write what `explore` found.

    Raises:
        InputError: the file cannot be written.
    """
    _write(file, graph, user_id, await explored_graph(graph.retrieval, request, user_id, result))


async def write_searched(  # noqa: PLR0917
    file: Path,
    graph: "KnowledgeGraph",
    user_id: str,
    query: str,
    result: "HybridSearchResult",
    strategy: "FusionStrategy",
) -> None:
    """Write what a hybrid search found.

    Raises:
        InputError: the file cannot be written.
    """
    _write(file, graph, user_id, await surrounded_graph(graph.retrieval, query, user_id, result, strategy))


def _write(file: Path, graph: "KnowledgeGraph", user_id: str, seen: ViewGraph) -> None:
    from rich.text import Text

    from kgagent.cli.output import say

    write_page(file, file_page(seen, Vocabulary.of(graph.ontology), user_id))
    say(Text(f"Wrote {file}: open it in a browser", style="green"))
