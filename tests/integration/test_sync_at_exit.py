"""A synchronous program that ends without closing its graph."""

import os
import subprocess
import sys

from tests.conftest import Server

PROGRAM = """
from kgagent import SyncKnowledgeGraph
graph = SyncKnowledgeGraph.connect()
print(graph.retrieval.text_match("nobody", "somebody"))
"""


def test_it_ends(server: Server) -> None:
    surroundings = os.environ | {
        "NEO4J_URI": server.uri,
        "NEO4J_USERNAME": server.username,
        "NEO4J_PASSWORD": server.password,
        "KGAGENT_EMBEDDER": "local",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=surroundings, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Matches" in done.stdout
