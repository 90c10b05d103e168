"""Data that a new server holds before the first test, as Neo4j plans a statement by the counts that
it finds.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from neo4j import GraphDatabase

from kgagent import Ontology, Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.sync import SyncKnowledgeGraph
from tests.support.shared_server import Server

USERS = 3
NODES = 40
"""Nodes of each label and user."""


def fill(server: Server, settings: Settings, folder: Path, dimensions: int) -> None:
    """Create the schema of the default ontology, and graphs of a few users with all of its labels
    and types.

    A statement that is planned on an empty server, or before the indexes are sampled, may read all
    records, and the tests' server keeps its plans.
    """
    path = folder / "statistics.jsonl"
    with SyncKnowledgeGraph.connect(
        settings=settings, embedder=HashingEmbedder(dimensions)
    ) as graph:
        path.write_text("".join(f"{line}\n" for line in _lines(graph.ontology)), "utf-8")
        for number in range(USERS):
            report = graph.load(path, user_id=f"statistics-{number}")
            assert not report.problems, report
    with GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        driver.execute_query("CALL db.prepareForReplanning()")


def _lines(ontology: Ontology) -> Iterator[str]:
    for label in ontology.labels:
        for number in range(NODES):
            name = f"{label} {number}"
            yield json.dumps(
                {
                    "kind": "node",
                    "id": name,
                    "label": label,
                    "name": name,
                    "description": f"This is {name}",
                }
            )
    for neo4j_type, definition in ontology.relationships.items():
        for number in range(NODES):
            [(start, end)] = definition.pairs
            ends = {"from": f"{start} {number}", "to": f"{end} {(number + 1) % NODES}"}
            yield json.dumps(
                {
                    "kind": "relationship",
                    "relationship_type": "near",
                    "neo4j_type": neo4j_type,
                    **ends,
                }
            )
