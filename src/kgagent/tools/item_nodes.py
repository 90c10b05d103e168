"""Which nodes the items of a call describe: existing ones, or new ones with their keys."""

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from kgagent.errors import AlreadyExistsError, InputError, KgAgentError, NodeNotFoundError
from kgagent.graph.reference_forms import is_generated_key, message_key
from kgagent.graph.references import CallNode, References
from kgagent.graph.writes import WriteMode
from kgagent.names import compatible_name, normalised_name
from kgagent.ontology import Ontology
from kgagent.tools.context import ToolContext
from kgagent.tools.items import RememberedNode

_NAMESPACE = uuid.UUID("0b6e0f5a-3c52-4c7e-9a43-6d1f1f5b8a27")


@dataclass(frozen=True)
class Target:
    """The node that an item describes.

    Attributes:
        entity_key: its key; for a new node, the key that it gets.
        is_new: whether it did not exist when the call began.
        renames: whether the item's name replaces the stored one.
        notice: which node it is, if the item gives another name of it.
    """

    entity_key: str
    is_new: bool = False
    renames: bool = False
    notice: str = ""


Targets = Mapping[int, Target | KgAgentError]


def new_keys(
    context: ToolContext,
    items: Mapping[int, RememberedNode],
    now: datetime,
    idempotency_key: str | None,
    *,
    mode: WriteMode,
) -> dict[int, str]:
    """The key that the node of each item gets if it is new; none if the item cannot create one.

    A key of a name derives from its plain form, so that spellings that look alike give one node.
    Where the label's rule is random, the key derives from the name, so that concurrent calls create
    one node.
    """
    keys: dict[int, str] = {}
    same_content: dict[str, int] = {}
    for position, item in items.items():
        rule = context.ontology.labels.get(item.label or "")
        if rule is None or item.label is None or item.name is None or item.entity_key is not None:
            continue
        name = normalised_name(item.name)
        if not rule.is_deterministic and not item.new:
            derived = uuid.uuid5(_NAMESPACE, "\n".join((context.user_id, item.label, name)))
            keys[position] = str(derived)
            continue
        identity = idempotency_key
        if idempotency_key is not None and mode == "either":
            # Calls with one idempotency key may give the same nodes in another order.
            content = json.dumps([item.label, name, item.description])
            number = same_content[content] = same_content.get(content, -1) + 1
            identity = json.dumps([idempotency_key, content, number])
        keys[position] = rule.entity_key(
            name=compatible_name(item.name),
            description=item.description or "",
            user_id=context.user_id,
            created_at=now.isoformat(),
            idempotency_key=identity,
        )
    return keys


async def find_targets(
    context: ToolContext,
    stored: References,
    items: Mapping[int, RememberedNode],
    keys: Mapping[int, str],
    *,
    mode: WriteMode,
) -> dict[int, Target | KgAgentError]:
    """Find the node that each item describes: by `entity_key`, by name, or a new one.

    Args:
        context: the user's graph.
        stored: the nodes that the names and keys of the items may mean.
        items: the items by their positions.
        keys: see `new_keys`.
        mode: whether the nodes may exist.

    Returns:
        A target for each position, or the error of the item.
    """
    targets: dict[int, Target | KgAgentError] = {}
    for position, item in items.items():
        try:
            if item.entity_key is not None:
                is_key = mode == "update" and is_generated_key(item.entity_key)
                targets[position] = Target(
                    item.entity_key if is_key else stored.key(item.entity_key),
                    renames=True,
                    notice="".join(stored.notices([item.entity_key])),
                )
            else:
                named = None if item.new else _named(context, stored, item)
                made = named or _created(context, stored, item, keys.get(position))
                if mode == "create":
                    _check_names(context.ontology, stored, item, made)
                targets[position] = made
        except InputError as error:
            targets[position] = error
    targets |= dict(_indistinct(items, targets))
    targets |= dict(_named_as_owner(items, targets, stored))
    for position, item in items.items():
        target = targets[position]
        if isinstance(target, Target) and target.renames and item.name is not None:
            targets[position] = _renamed(stored, item.name, target)
        elif isinstance(target, Target) and target.is_new and mode == "either":
            targets[position] = await _with_free_key(context, stored, item, target)
    return targets


def _named(context: ToolContext, stored: References, item: RememberedNode) -> Target | None:
    """The node with the name or alias of an item, if there is one.

    Raises:
        InputError: there are several.
    """
    name, label, words = item.name or "", item.label, context.ontology.owner_words
    if label is not None and label not in context.ontology.labels:
        return None
    # The beginning of a key is no name.
    is_owner = normalised_name(name) in words
    nodes = [node for node in stored.nodes(name, label) if is_owner or node.is_called(name)]
    if not nodes:
        return None
    return Target(stored.key(name, label), notice="".join(stored.notices([name])))


def _created(
    context: ToolContext, stored: References, item: RememberedNode, key: str | None
) -> Target:
    """A new node, with the people of whose names its own is a part.

    Raises:
        InputError: none can be created.
    """
    means_owner = normalised_name(item.name or "") in context.ontology.owner_words
    if means_owner and not (item.is_owner or item.new):
        raise InputError(
            f"{item.name!r} means the owner of the graph, but no node is marked as the owner; give "
            f"the real name and "
            "is_owner"
        )
    if item.label is None:
        raise InputError(
            f"No node is named exactly {item.name!r}. Give the full name or key of an existing "
            f"node, or a label "
            f"({', '.join(context.ontology.labels)}) to create it"
        )
    context.ontology.label(item.label)
    name, is_person = item.name or "", item.label == context.ontology.owner_label
    namesakes = stored.namesakes(name) if is_person else ""
    notice = f"{name} is new; {namesakes}" if namesakes else ""
    return Target(key or "", is_new=True, notice=notice)


def _indistinct(
    items: Mapping[int, RememberedNode], targets: Targets
) -> Iterator[tuple[int, InputError]]:
    """The errors of items with different refs or names that mean the same node."""
    by_name: dict[object, list[int]] = {}
    by_key: dict[str, list[int]] = {}
    for position, item in items.items():
        target = targets[position]
        if (
            item.entity_key is None
            and item.name is not None
            and item.ref is not None
            and not item.new
        ):
            by_name.setdefault((item.label, normalised_name(item.name)), []).append(position)
        if isinstance(target, Target) and target.is_new:
            by_key.setdefault(target.entity_key, []).append(position)
    for positions in by_key.values():
        if len({normalised_name(items[position].name or "") for position in positions}) > 1:
            error = InputError(
                f"nodes {', '.join(map(str, positions))} would be one {items[positions[0]].label}, "
                f"because their "
                "descriptions are equal and the name is not part of its key. Give different "
                "descriptions"
            )
            yield from ((position, error) for position in positions)
    for positions in by_name.values():
        if len({items[position].ref for position in positions}) > 1:
            error = InputError(
                f"nodes {', '.join(map(str, positions))} have different refs and the same name. If "
                f"they are the same "
                'thing, give one item; if not, set "new": true on all but one, or give different '
                "names"
            )
            yield from ((position, error) for position in positions)


def _named_as_owner(
    items: Mapping[int, RememberedNode], targets: Targets, stored: References
) -> Iterator[tuple[int, InputError]]:
    """The errors of items with a ref such as "me" that describe another node than the owner of the
    graph.
    """
    for position, item in items.items():
        target = targets[position]
        if (
            not stored.owners
            or item.ref is None
            or normalised_name(item.ref) not in stored.ontology.owner_words
            or not isinstance(target, Target)
        ):
            continue
        if target.entity_key not in {owner.entity_key for owner in stored.owners}:
            owner = stored.owners[0]
            shown = owner.listed(message_key(owner.entity_key))
            yield (
                position,
                InputError(
                    f"ref {item.ref!r} means the owner of the graph, {shown}. Give another ref"
                ),
            )


def _renamed(stored: References, name: str, target: Target) -> Target | InputError:
    """The target, or the error if its new name is that of another node."""
    others = [node for node in stored.nodes(name) if node.is_named(name)]
    if not others or any(node.entity_key == target.entity_key for node in others):
        return target
    shown = f"{others[0].label} {others[0].name!r} ({message_key(others[0].entity_key)})"
    return InputError(
        f"{shown} has that name. If both are the same thing, use merge_nodes; if not, give another "
        f"name"
    )


async def _with_free_key(
    context: ToolContext, stored: References, item: RememberedNode, target: Target
) -> Target:
    """The target with another key if a renamed node still has the one that is derived from the
    name.

    A node with that key and that name was created by a concurrent call after this call looked for
    it, and is used.
    """
    key = target.entity_key
    if context.ontology.label(item.label or "").is_deterministic:
        return target
    while (holder := stored.node(key)) is not None and not holder.is_named(item.name or ""):
        # Each key derives from the one before, so that concurrent calls create one node here too.
        key = str(uuid.uuid5(_NAMESPACE, key))
        stored = await context.resolver.find(context.user_id, keys=[key])
    return replace(target, entity_key=key)


def call_nodes(
    items: Mapping[int, RememberedNode],
    targets: Targets,
    rejected: Mapping[str, int],
    ontology: Ontology,
) -> Iterator[CallNode]:
    """The nodes of a call, to which its references may refer.

    Args:
        items: the valid nodes of the call.
        targets: what they describe.
        rejected: refs and names of invalid nodes of the call, with the positions of the nodes; no
            node with a similar name stands for them.
        ontology: says which nodes are people.
    """
    for position, item in items.items():
        target = targets[position]
        key = target.entity_key if isinstance(target, Target) else None
        yield CallNode(
            place=f"nodes[{position}]",
            entity_key=key,
            name=item.name or "",
            ref=item.ref,
            aliases=tuple(item.aliases),
            is_owner=bool(item.is_owner),
            has_parts=key is None or item.label in {None, ontology.owner_label},
        )
    for name, position in rejected.items():
        yield CallNode(place=f"nodes[{position}]", entity_key=None, name=name)


def owner_values(
    context: ToolContext,
    stored: References,
    *,
    is_owner: bool | None,
    entity_key: str,
    label: str | None = None,
) -> Mapping[str, bool | None]:
    """The properties to write for `is_owner`.

    A graph has one owner. The check reads before the write: two calls at the same moment can both
    pass it.

    Args:
        context: the user's graph.
        stored: the owners, and the node unless its label is given.
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
        node = stored.node(entity_key)
        if node is None:
            raise NodeNotFoundError(f"Node not found: {entity_key}")
        label = node.label
    allowed = context.ontology.owner_label
    if label != allowed:
        raise InputError(f"is_owner applies only to nodes with the label {allowed}, got {label}")
    for owner in stored.owners:
        if owner.entity_key != entity_key:
            shown = f"{owner.label} {owner.name!r} ({message_key(owner.entity_key)})"
            can_change = context.offers("update_node")
            remedy = (
                ". To change the owner, first set is_owner to false there with update_node"
                if can_change
                else ""
            )
            raise AlreadyExistsError(f"{shown} is already the owner of this graph{remedy}")
    return {"is_owner": True}


def _check_names(
    ontology: Ontology, stored: References, item: RememberedNode, target: Target
) -> None:
    """Refuse a name that a node with another key has, for labels of which there is one node of each
    name.

    Raises:
        AlreadyExistsError: the node has the name in another spelling, or as an alias.
    """
    name, label = item.name or "", item.label or ""
    if not ontology.label(label).key_includes_name:
        return
    nodes = stored.nodes(name, label)
    if not nodes or nodes[0].entity_key == target.entity_key or not nodes[0].is_called(name):
        return
    is_named = nodes[0].is_named(name)
    shown = f"{nodes[0].label} {nodes[0].name!r} ({message_key(nodes[0].entity_key)})"
    raise AlreadyExistsError(
        f"{name!r} is {'' if is_named else 'an alias of '}the {shown}. Use update_node to change "
        "it; remember with `new` creates another thing of that name"
    )
