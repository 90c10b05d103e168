"""A varied graph of a user, and files."""

from pathlib import Path

import pytest

from kgagent import KnowledgeGraph
from tests.support.varied_graph import plant_varied_graph


@pytest.fixture
async def planted(graph: KnowledgeGraph, user_id: str) -> str:
    """The user of a varied graph."""
    await plant_varied_graph(graph, user_id)
    return user_id


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where to export to."""
    return tmp_path / "records.jsonl"
