"""Every statement that finds nodes by their keys seeks them in an index, among nodes of many users."""

import re
from collections.abc import AsyncIterator, Iterator
from importlib import resources

import pytest
from neo4j import Driver, GraphDatabase

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.graph.deleted_records import DELETED_NAMES
from kgagent.graph.identifiers import Identifier
from kgagent.graph.parameter_map import with_parameter_map
from kgagent.graph.schema_parts import NODE_TEXT_INDEX
from kgagent.graph.statements import Fragment, statement
from kgagent.knowledge_graph import services_of
from kgagent.retrieval.vector_targets import RANKING_FIELDS
from tests.conftest import Clock, Server
from tests.support.own_ontology import dropped_in_the_end, own_graph, own_ontology
from tests.support.query_plans import details_of
from tests.support.stored import cypher

pytestmark = [pytest.mark.neo4j_5, pytest.mark.schema]

BY_KEY = sorted(
    path.name.removesuffix(".cypher")
    for path in resources.files("kgagent.cypher").iterdir()
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
                    f"CREATE (:{Identifier(label)} {{user_id: 'user ' + user, entity_key: 'key ' + number}})",
                )
        async with own_graph(settings, HashingEmbedder(8), Clock(), ontology) as graph:
            yield graph


@pytest.fixture(scope="module")
def driver(server: Server) -> Iterator[Driver]:
    with GraphDatabase.driver(
        server.uri, auth=(server.username, server.password), notifications_min_severity="OFF"
    ) as driver:
        yield driver


def test_there_are_statements_that_find_nodes_by_key() -> None:
    assert {"create_nodes", "read_nodes", "restore_node", "resolve_references", "find_similar_keys"} <= set(BY_KEY)


@pytest.mark.parametrize(
    ("name", "lock"),
    [*((name, "_no_lock") for name in BY_KEY), ("read_nodes", "_node_lock"), ("read_pairs", "_relationship_lock")],
)
async def test_a_node_is_sought_by_user_and_key(crowded: KnowledgeGraph, driver: Driver, name: str, lock: str) -> None:
    ontology = crowded.ontology
    person = Identifier(next(iter(ontology.labels)))
    text = statement(
        name,
        **{
            **services_of(crowded).relationships.names,
            **DELETED_NAMES,
            "label": person,
            "owner": person,
            "relationship": RANKING_FIELDS,
        },
        lock=Fragment(lock),
    )
    language = services_of(crowded).store.features.language
    plan = driver.execute_query(
        with_parameter_map(text, f"{language}EXPLAIN "), user_id="user 1", p={"index": NODE_TEXT_INDEX}
    ).summary.plan
    assert plan is not None
    reads = [details for details in details_of(plan) if any(label in details for label in ontology.labels)]
    sought = [details for details in reads if "user_id" in details and "entity_key" in details]
    assert len(sought) >= (len(ontology.labels) if "«labels»" in text_of(name) else 1)
    others = [details for details in reads if details not in sought]
    # Another part of these finds the owner, or nodes by their names.
    assert len(others) <= (name in {"resolve_references", "match_entry_points"})
    assert all("user_id" in details for details in others)


def text_of(name: str) -> str:
    return resources.files("kgagent.cypher").joinpath(f"{name}.cypher").read_text("utf-8")
