"""Surroundings of nodes: the relationships among them, and their neighbors one hop away."""

from collections.abc import Sequence

from kgagent.concurrency import task_group
from kgagent.models import GraphExpansion
from kgagent.retrieval.candidates import read_node, read_relationship
from kgagent.retrieval.scope import SearchScope
from kgagent.turns import in_turns


async def expand_around(
    scope: SearchScope, entity_keys: Sequence[str], *, max_relationships: int, max_neighbors: int
) -> GraphExpansion:
    """Read the surroundings of nodes in two concurrent statements; see `RetrievalService.expand_graph`.

    Raises:
        StoreError: the database failed.
    """
    keys = list(dict.fromkeys(entity_keys))
    if not keys:
        return GraphExpansion()
    async with task_group() as group:
        among_read = group.create_task(
            scope.read(scope.statement("expand_among"), {"keys": keys, "limit": max_relationships})
        )
        around_read = group.create_task(
            scope.read(scope.statement("expand_around"), {"keys": keys, "limit": max_neighbors})
        )
    among, around = among_read.result(), around_read.result()
    relationships = [row["relationship"] for row in among]
    relationships += [relationship for row in around for relationship in row["relationships"]]
    nodes, ontology = [row["node"] for row in around], scope.ontology
    return GraphExpansion(
        neighbors=tuple(await in_turns(lambda one: read_node(one, ontology).to_model(ontology), filter(None, nodes))),
        relationships=tuple(
            await in_turns(lambda one: read_relationship(one).to_model(ontology), filter(None, relationships))
        ),
    )
