"""Every statement that finds nodes by their keys seeks them in an index, among nodes of many
users.
"""

import re
from collections.abc import AsyncIterator

import pytest
from neo4j import Driver

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.graph.identifiers import Identifier
from kgagent.graph.statements import statement_files
from tests.conftest import Clock
from tests.support.own_ontology import dropped_in_the_end, own_graph, own_ontology
from tests.support.query_plans import reads_of
from tests.support.stored import cypher

pytestmark = [pytest.mark.neo4j_5, pytest.mark.schema]

BY_KEY = sorted(
    name
    for name, path in statement_files().items()
    if not path.name.startswith("_")
    and re.search(r"\{entity_key: |entity_key (STARTS WITH|IN \$texts)", path.read_text("utf-8"))
    and path.name not in {"find_deleted_nodes.cypher"}  # reads the few deleted nodes of the user
)
USERS, NODES = 20, 50
"""Enough for an index to be cheaper than a scan."""


@pytest.fixture(scope="module")
async def crowded(settings: Settings) -> AsyncIterator[KnowledgeGraph]:
    """Nodes of many users, made before the indexes so that these know how many there are."""
    async with dropped_in_the_end(settings, own_ontology()) as ontology:
        async with KnowledgeGraph.connect(
            settings=settings, embedder=HashingEmbedder(8), ontology=ontology, ensure_schema=False
        ) as graph:
            for label in ontology.labels:
                await cypher(
                    graph,
                    f"UNWIND range(1, {USERS}) AS user UNWIND range(1, {NODES}) AS number "
                    f"CREATE (:{Identifier(label)} "
                    f"{{user_id: 'user ' + user, entity_key: 'key ' + number}})",
                )
        async with own_graph(settings, HashingEmbedder(8), Clock(), ontology) as graph:
            yield graph


def test_there_are_statements_that_find_nodes_by_key() -> None:
    assert {"write_records", "read_nodes", "write_as_whole", "resolve_references"} <= set(BY_KEY)


@pytest.mark.parametrize(
    ("name", "lock"),
    [
        *((name, "_no_lock") for name in BY_KEY),
        ("read_nodes", "_node_lock"),
        ("read_pairs", "_relationship_lock"),
    ],
)
async def test_a_node_is_sought_by_user_and_key(
    crowded: KnowledgeGraph, driver: Driver, name: str, lock: str
) -> None:
    labels = crowded.ontology.labels
    reads = [
        details
        for details in reads_of(name, crowded, driver, lock)
        if any(label in details for label in labels)
    ]
    sought = [details for details in reads if "user_id" in details and "entity_key" in details]
    assert len(sought) >= (len(labels) if "«labels»" in text_of(name) else 1)
    others = [details for details in reads if details not in sought]
    # Another part of these finds the owner, or nodes by their names.
    assert len(others) <= (name in {"resolve_references", "match_entry_points"})
    assert all("user_id" in details for details in others)


def text_of(name: str) -> str:
    return statement_files()[name].read_text("utf-8")
