"""The owner of a graph: the node that stands for the user."""

from collections.abc import Mapping

from kgagent.errors import AlreadyExistsError, InputError, NodeNotFoundError
from kgagent.graph.reference_forms import message_key
from kgagent.graph.referenced_nodes import FoundNodes
from kgagent.tools.context import ToolContext


def owner_values(
    context: ToolContext, found: FoundNodes, *, is_owner: bool | None, entity_key: str, label: str | None = None
) -> Mapping[str, bool | None]:
    """The properties to write for `is_owner`.

    A graph has one owner. The check reads before the write: two calls at the same moment can both pass it.

    Args:
        context: the user's graph.
        found: the owners, and the node unless its label is given.
        is_owner: as the model gave it; None changes nothing, False removes the property.
        entity_key: the node that is written.
        label: its label; None takes that of the node.

    Raises:
        AlreadyExistsError: another node is the owner.
        NodeNotFoundError: the node does not exist.
        InputError: nodes of this label cannot be the owner.
    """
    if is_owner is None:
        return {}
    if not is_owner:
        return {"is_owner": None}
    if label is None:
        node = found.node(entity_key)
        if node is None:
            raise NodeNotFoundError(f"Node not found: {entity_key}")
        label = node.label
    allowed = context.ontology.owner_label
    if label != allowed:
        raise InputError(f"is_owner applies only to nodes with the label {allowed}, got {label}")
    for owner in found.owners():
        if owner.entity_key != entity_key:
            shown = f"{owner.label} {owner.name!r} ({message_key(owner.entity_key)})"
            can_change = context.offers("update_node")
            remedy = ". To change the owner, first set is_owner to false there with update_node" if can_change else ""
            raise AlreadyExistsError(f"{shown} is already the owner of this graph{remedy}")
    return {"is_owner": True}
