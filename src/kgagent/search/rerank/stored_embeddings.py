"""Stored embeddings of results, for reranking; they are never returned."""

from array import array
from collections.abc import Mapping, Sequence

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedding
from kgagent.models import GraphNode, GraphRelationship
from kgagent.search.scope import SearchScope

Pair = tuple[str, str, str]


async def embeddings_of(
    scope: SearchScope, results: Mapping[str, GraphNode | GraphRelationship]
) -> dict[str, Embedding]:
    """Read embeddings, with one statement for the nodes and one for the relationships.

    Args:
        scope: whose records.
        results: nodes and relationships by any keys.

    Returns:
        Embeddings by those keys; float32, shape (dimensions,). Records without an embedding that
        can be compared with those of the current embedder are missing.

    Raises:
        StoreError: the database failed.
    """
    nodes = {key: item.entity_key for key, item in results.items() if isinstance(item, GraphNode)}
    pairs = {key: item.pair for key, item in results.items() if isinstance(item, GraphRelationship)}
    async with task_group() as group:
        of_nodes = group.create_task(node_embeddings(scope, list(nodes.values())))
        of_pairs = group.create_task(relationship_embeddings(scope, list(pairs.values())))
    found = {key: of_nodes.result().get(entity_key) for key, entity_key in nodes.items()}
    found |= {key: of_pairs.result().get(pair) for key, pair in pairs.items()}
    return {key: embedding for key, embedding in found.items() if embedding is not None}


async def node_embeddings(scope: SearchScope, entity_keys: Sequence[str]) -> dict[str, Embedding]:
    """Read embeddings of nodes by their keys; see `embeddings_of`."""
    if not entity_keys:
        return {}
    keys = list(dict.fromkeys(entity_keys))
    rows = await scope.read(scope.statement("read_node_embeddings"), {"keys": keys})
    return {row["entity_key"]: array("f", row["embedding"]) for row in rows}


async def relationship_embeddings(
    scope: SearchScope, pairs: Sequence[Pair]
) -> dict[Pair, Embedding]:
    """Read embeddings of relationships by Neo4j type and keys of both ends, in either order; see
    `embeddings_of`.
    """
    if not pairs:
        return {}
    wanted = list(dict.fromkeys(pairs))
    named = [dict(zip(("neo4j_type", "first", "second"), pair, strict=True)) for pair in wanted]
    rows = await scope.read(scope.statement("read_relationship_embeddings"), {"pairs": named})
    return {wanted[row["position"]]: array("f", row["embedding"]) for row in rows}
