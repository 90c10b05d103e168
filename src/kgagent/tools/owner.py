"""The owner of a graph: the node that stands for the user."""

from collections.abc import Mapping

from kgagent.errors import AlreadyExistsError, InputError, NodeNotFoundError
from kgagent.tools.context import ToolContext


async def owner_values(
    context: ToolContext, *, is_owner: bool | None, entity_key: str, label: str | None = None
) -> Mapping[str, bool | None]:
    """The properties to write for `is_owner`.

    A graph has one owner. The check reads before the write: two calls at the same moment can both pass it.

    Args:
        context: the user's graph.
        is_owner: as the model gave it; None changes nothing, False removes the property.
        entity_key: the node that is written.
        label: its label; None reads it.

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
        found = await context.nodes.get(context.user_id, [entity_key])
        if not found:
            raise NodeNotFoundError(f"Node not found: {entity_key}")
        label = found[0].label
    allowed = context.ontology.owner_label
    if label != allowed:
        raise InputError(f"is_owner applies only to nodes with the label {allowed}, got {label}")
    for owner in await context.references.owners(context.user_id):
        if owner.entity_key != entity_key:
            [short] = (await context.references.short_keys(context.user_id, [owner.entity_key])).values()
            problem = f"{owner.label} {owner.name!r} ({short}) is already the owner of this graph"
            can_change = context.offers("update_node")
            remedy = ". To change the owner, first set is_owner to false there with update_node" if can_change else ""
            raise AlreadyExistsError(problem + remedy)
    return {"is_owner": True}
