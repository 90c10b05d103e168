"""The same search with the functions of other toolkits, on the same server and vectors."""

import logging
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from importlib.util import find_spec
from typing import Any

from _asking import LIMIT, Ask, Ends
from _common import Server
from _made_graph import Owner, Vectors

from kgagent import KnowledgeGraph
from kgagent.graph.schema_parts import RELATIONSHIP_VECTOR_INDEX
from kgagent.knowledge_graph import services_of

GRAPHITI = "graphiti-core"
LANGCHAIN = "langchain-neo4j"
PACKAGES = {GRAPHITI: "graphiti_core", LANGCHAIN: "langchain_neo4j"}
COPIED_AT_ONCE = 2_000

PREPARE_NODES = """
MATCH (n:Entity {user_id: $user_id})
CALL (n) { SET n.uuid = n.entity_key, n.group_id = n.user_id } IN TRANSACTIONS OF 10000 ROWS
"""
COPY_RELATIONSHIPS = """
MATCH (a:Entity {user_id: $user_id})-[r:connected_to]->(b)
CALL (a, r, b) {
  CREATE (a)-[e:RELATES_TO {
    uuid: r.relationship_key, group_id: r.user_id, name: r.relationship_type, fact: r.description,
    episodes: [], created_at: r.created_at, reference_time: r.created_at
  }]->(b)
  WITH e, r
  CALL db.create.setRelationshipVectorProperty(e, 'fact_embedding', r.relationship_embedding)
} IN TRANSACTIONS OF $rows ROWS
"""


def installed() -> list[str]:
    """The installed peers; prints how to install the others."""
    there = [name for name, package in PACKAGES.items() if find_spec(package) is not None]
    for name in PACKAGES:
        if name not in there:
            print(f'{name} is not installed and is skipped: pip install -e ".[bench]"', flush=True)
    return there


async def copy_for_graphiti(graph: KnowledgeGraph, where: Server, everyone: list[Owner]) -> None:
    """Copy the relationships in graphiti's schema between the same nodes, with graphiti's
    indexes.
    """
    for owner in everyone:
        await services_of(graph).store.run_schema(_filled(PREPARE_NODES, owner))
        await services_of(graph).store.run_schema(_filled(COPY_RELATIONSHIPS, owner))
    driver = graphiti_driver(where)
    await make_graphiti_indexes(driver)
    await driver.close()
    await services_of(graph).store.run_schema("CALL db.awaitIndexes(3600)")


def graphiti_driver(where: Server) -> Any:  # noqa: ANN401 - of a package that need not be there
    """graphiti-core's own driver."""
    os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
    from graphiti_core.driver.neo4j_driver import Neo4jDriver

    return Neo4jDriver(where.uri, where.username, where.password)


async def make_graphiti_indexes(driver: Any) -> None:  # noqa: ANN401 - of a package that need not be there
    """Create graphiti-core's indexes; it starts by itself if its driver is created inside a running
    loop.
    """
    await (getattr(driver, "_init_task", None) or driver.build_indices_and_constraints())


async def graphiti(where: Server, stack: AsyncExitStack) -> Ask:
    """graphiti-core's similarity search of edges, filtered by group."""
    from graphiti_core.search.search_filters import SearchFilters
    from graphiti_core.search.search_utils import edge_similarity_search

    # Server notifications would be logged for every question and count as graphiti's time.
    logging.getLogger("neo4j.notifications").setLevel(logging.ERROR)
    driver = graphiti_driver(where)
    stack.push_async_callback(driver.close)

    async def ask(owner: Owner, query: Vectors) -> list[Ends]:
        edges = await edge_similarity_search(
            driver,
            query.tolist(),
            None,
            None,
            SearchFilters(),
            group_ids=[owner.user_id],
            limit=LIMIT,
            min_score=0.0,
        )
        return [(edge.source_node_uuid, edge.target_node_uuid) for edge in edges]

    return ask


def langchain(where: Server, dimensions: int) -> Ask:
    """langchain-neo4j's search of a relationship index; it has no filter by user, so others' hits
    are dropped.
    """
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_neo4j import Neo4jVector

    store = Neo4jVector.from_existing_relationship_index(
        DeterministicFakeEmbedding(size=dimensions),
        RELATIONSHIP_VECTOR_INDEX,
        embedding_dimension=dimensions,
        url=where.uri,
        username=where.username,
        password=where.password,
        text_node_property="description",
    )

    async def ask(owner: Owner, query: Vectors) -> list[Ends]:
        found = store.similarity_search_by_vector(query.tolist(), k=LIMIT)
        return [
            _ends(document.metadata)
            for document in found
            if document.metadata["user_id"] == owner.user_id
        ]

    return ask


def _ends(metadata: Mapping[str, str]) -> Ends:
    _, start, start_number, end, end_number = metadata["relationship_key"].split(":")
    return f"{start}:{start_number}", f"{end}:{end_number}"


def _filled(text: str, owner: Owner) -> str:
    # CALL … IN TRANSACTIONS runs only where `run_schema` runs it, which takes no parameters; the
    # ids are our own.
    return text.replace("$user_id", f"'{owner.user_id}'").replace("$rows", str(COPIED_AT_ONCE))
