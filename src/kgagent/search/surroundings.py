"""Surroundings of nodes: the relationships among them, and their neighbors one hop away."""

from collections.abc import Sequence
from typing import Any

from kgagent.graph.store import Row
from kgagent.models import GraphExpansion, GraphNode, GraphRelationship
from kgagent.search.candidates import read_node, read_relationship
from kgagent.search.scope import RelationshipFilter, SearchScope
from kgagent.turns import in_turns


async def expand_around(
    scope: SearchScope, entity_keys: Sequence[str], *, max_relationships: int, max_neighbors: int
) -> GraphExpansion:
    """Read the surroundings of nodes in one statement; see `RetrievalService.expand_graph`.

    Raises:
        StoreError: the database failed.
    """
    keys = list(dict.fromkeys(entity_keys))
    if not keys:
        return GraphExpansion()
    parameters = {"around": keys, "among_limit": max_relationships, "neighbor_limit": max_neighbors}
    every = RelationshipFilter()
    [row] = await scope.read(scope.statement("expand_around"), parameters | every.parameters)
    return await read_surroundings(scope, row, every)


async def read_surroundings(
    scope: SearchScope, row: Row, types: RelationshipFilter
) -> GraphExpansion:
    """Make models of what `_surroundings.cypher` returns, as the filter has them."""
    ontology = scope.ontology
    relationships = [
        *row["among"],
        *(one for around in row["neighbors"] for one in around["relationships"]),
    ]
    nodes = [around["node"] for around in row["neighbors"]]

    def node_of(found: Sequence[Any]) -> GraphNode:
        return types.without_other_notes(types.then(read_node(found, ontology)).to_model(ontology))

    def relationship_of(found: Sequence[Any]) -> GraphRelationship:
        return types.without_other_notes(types.then(read_relationship(found)).to_model(ontology))

    return GraphExpansion(
        neighbors=tuple(await in_turns(node_of, filter(None, nodes))),
        relationships=tuple(await in_turns(relationship_of, filter(None, relationships))),
    )
