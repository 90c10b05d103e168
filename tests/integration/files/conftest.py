"""A varied graph of a user, and files."""

import uuid
from pathlib import Path

import pytest

from kgagent import KnowledgeGraph
from tests.support.varied_graph import plant_varied_graph

_EXPORTED: list[bytes] = []


@pytest.fixture
async def planted(graph: KnowledgeGraph, user_id: str) -> str:
    """The user of a varied graph."""
    await plant_varied_graph(graph, user_id)
    return user_id


@pytest.fixture(scope="module")
async def lasting(opened: KnowledgeGraph) -> str:
    """The user of a varied graph that stays as it is, for tests that only read."""
    user = f"user-{uuid.uuid4()}"
    await plant_varied_graph(opened, user)
    return user


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where to export to."""
    return tmp_path / "records.jsonl"


@pytest.fixture
async def exported(graph: KnowledgeGraph, user_id: str, tmp_path: Path) -> Path:
    """A file with a varied graph, which all tests of this process share."""
    file = tmp_path / f"{uuid.uuid4()}.jsonl"
    if not _EXPORTED:
        await plant_varied_graph(graph, user_id)
        await graph.export(file, user_id=user_id)
        _EXPORTED.append(file.read_bytes())
    file.write_bytes(_EXPORTED[0])
    return file
