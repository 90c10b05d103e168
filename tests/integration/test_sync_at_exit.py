"""A synchronous program that ends without closing its graph."""

from pathlib import Path

from tests.conftest import Server
from tests.support.served import run_well

PROGRAM = """
from kgagent import SyncKnowledgeGraph
graph = SyncKnowledgeGraph.connect()
print(graph.retrieval.text_match("nobody", user_id="somebody"))
"""


def test_it_ends(server: Server, tmp_path: Path) -> None:
    assert "Matches" in run_well(server, tmp_path, "-c", PROGRAM).stdout
