"""Loading a file into an open graph, with progress on stderr."""

from pathlib import Path
from typing import TYPE_CHECKING

from kgagent.cli.progress import RichProgress
from kgagent.loading import LoadReport

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph


async def load_into(graph: "KnowledgeGraph", file: Path, *, user_id: str, batch_size: int = 500) -> LoadReport:
    """Load a file; arguments and errors are those of `load_file`."""
    return await graph.load(
        file,
        user_id=user_id,
        batch_size=batch_size,
        progress=RichProgress(),
    )
