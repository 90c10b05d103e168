"""How the lines of one kind are written: the strategies of the tools, with the options of a load."""

from typing import Any, Literal

from kgagent.files.load_options import node_options, relationship_options
from kgagent.graph.compare_and_set import WriteStrategy
from kgagent.graph.nodes import NodeRepository, NodeStrategy
from kgagent.graph.relationships import RelationshipRepository, RelationshipStrategy
from kgagent.graph.writes import WriteContext, WriteResult

LineKind = Literal["nodes", "relationships"]
LineStrategy = WriteStrategy[Any, Any, Any, WriteResult[Any]]


def line_strategy(
    kind: LineKind,
    *,
    nodes: NodeRepository,
    relationships: RelationshipRepository,
    write_context: WriteContext,
    user_id: str,
) -> LineStrategy:
    """The strategy for the lines of one kind.

    Args:
        kind: what the lines are about.
        nodes: repository of the nodes.
        relationships: repository of the relationships.
        write_context: dependencies of writes.
        user_id: owner of the graph.
    """
    if kind == "nodes":
        return NodeStrategy(nodes, write_context, user_id=user_id, options=node_options())
    return RelationshipStrategy(relationships, write_context, user_id=user_id, options=relationship_options())
