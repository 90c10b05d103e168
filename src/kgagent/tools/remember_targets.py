"""Which nodes the items of a call of remember describe: stored ones, or new ones with their keys."""

import json
import uuid
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from kgagent.errors import InputError, KgAgentError
from kgagent.graph.node_references import other_names
from kgagent.graph.reference_forms import ReferenceForms, message_key
from kgagent.graph.referenced_nodes import FoundNodes, ReferencedNode
from kgagent.plain_names import normalised_name
from kgagent.tools.context import ToolContext
from kgagent.tools.new_keys import keys_by_spelling
from kgagent.tools.remember_arguments import RememberedNode
from kgagent.turns import in_turns

GroupT = TypeVar("GroupT", bound=Hashable)

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


async def asked_of_targets(
    context: ToolContext, items: Mapping[int, RememberedNode], now: datetime
) -> tuple[list[str], list[str]]:
    """The references and the keys that `find_targets` asks for, to be looked up together with those of the call."""
    names = [item.name for item in items.values() if item.name is not None]
    given = [item.entity_key for item in items.values() if item.entity_key is not None]
    keys: list[str] = []
    for found in await in_turns(lambda item: _possible_keys(context, item, now), items.values()):
        keys += found
    return [*names, *given], keys


async def find_targets(
    context: ToolContext,
    found: FoundNodes,
    items: Mapping[int, RememberedNode],
    now: datetime,
    *,
    idempotency_key: str | None = None,
) -> Targets:
    """Find the node that each item describes: by `entity_key`, by name, or a new one.

    Args:
        context: the user's graph.
        found: what was found for `asked_of_targets`.
        items: the items by their positions.
        now: when they are written.
        idempotency_key: calls with the same key create each node once.

    Returns:
        A target for each position, or the error of the item.
    """
    by_key = {position: item.entity_key for position, item in items.items() if item.entity_key is not None}
    stored: dict[int, Target | InputError | None] = dict(await _by_key(context, found, items, by_key))
    named: dict[str | None, dict[int, str]] = {}
    for position, item in items.items():
        if item.entity_key is None and item.name is not None and not item.new:
            named.setdefault(item.label, {})[position] = item.name
    for label, names in named.items():
        if label is None or label in context.ontology.labels:
            by_name = await _named(context, found, names.values(), None if label is None else [label])
            stored |= {position: by_name[name] for position, name in names.items()}
    identities = {} if idempotency_key is None else _identities(items, idempotency_key)
    missing = [position for position in items if stored.get(position) is None]
    created = await in_turns(lambda one: _created(context, items[one], now, identities.get(one)), missing)
    new = dict(zip(missing, created, strict=True))
    targets: dict[int, Target | KgAgentError] = {
        position: new[position] if (outcome := stored.get(position)) is None else outcome for position in items
    }
    targets |= _indistinct(items) | _same_keys(items, targets)
    targets |= await _taken_names(found, items, targets)
    return await _with_free_keys(context, found, items, await _with_earlier_keys(context, found, items, targets))


async def _by_key(
    context: ToolContext, found: FoundNodes, items: Mapping[int, RememberedNode], given: Mapping[int, str]
) -> dict[int, Target | InputError]:
    """The node of each item with an `entity_key`; a part of a name will do, unless the item renames the node."""
    if not given:
        return {}
    exactly = {normalised_name(key) for position, key in given.items() if items[position].name is not None}
    resolved = await context.references.resolve_loosely(context.user_id, given.values(), exactly=exactly, found=found)
    notices = resolved.all_notices
    return {
        position: key
        if isinstance(key := resolved.keys[reference], InputError)
        else Target(key, renames=True, notice=notices.get(reference, ""))
        for position, reference in given.items()
    }


def _identities(items: Mapping[int, RememberedNode], idempotency_key: str) -> dict[int, str]:
    """What tells the new nodes of calls with one idempotency key apart: not their order, which may differ."""
    same = _positions(
        (json.dumps([item.label, normalised_name(item.name or ""), item.description]), position)
        for position, item in items.items()
    )
    return {
        position: json.dumps([idempotency_key, content, number])
        for content, positions in same.items()
        for number, position in enumerate(positions)
    }


def _same_keys(
    items: Mapping[int, RememberedNode], targets: Mapping[int, Target | KgAgentError]
) -> dict[int, InputError]:
    """An error for each of the new nodes that would get one key although their names differ."""
    same = _positions(
        (target.entity_key, position)
        for position, target in targets.items()
        if isinstance(target, Target) and target.is_new
    )
    return {
        position: InputError(
            f"nodes {', '.join(map(str, positions))} would be one {items[position].label}, because their descriptions "
            "are equal and the name is not part of its key. Give different descriptions"
        )
        for positions in same.values()
        if len({normalised_name(items[position].name or "") for position in positions}) > 1
        for position in positions
    }


def _indistinct(items: Mapping[int, RememberedNode]) -> dict[int, InputError]:
    """An error for each of the items that have different refs but one label and name: one node would get both."""
    same = _positions(
        ((item.label, normalised_name(item.name)), position)
        for position, item in items.items()
        if item.entity_key is None and item.name is not None and item.ref is not None and not item.new
    )
    return {
        position: InputError(
            f"nodes {', '.join(map(str, positions))} have different refs and the same name. If they are the same "
            'thing, give one item; if not, set "new": true on all but one, or give different names'
        )
        for positions in same.values()
        if len({items[position].ref for position in positions}) > 1
        for position in positions
    }


def _positions(found: Iterable[tuple[GroupT, int]]) -> dict[GroupT, list[int]]:
    """The positions of the items of each group."""
    groups: dict[GroupT, list[int]] = {}
    for group, position in found:
        groups.setdefault(group, []).append(position)
    return groups


async def _taken_names(
    found: FoundNodes, items: Mapping[int, RememberedNode], targets: Mapping[int, Target | KgAgentError]
) -> dict[int, InputError]:
    """An error for each item that would give an existing node the name of another."""
    renamed = {
        position: (item.name, target.entity_key)
        for position, item in items.items()
        if isinstance(target := targets[position], Target) and target.renames and item.name is not None
    }
    if not renamed:
        return {}
    called = await found.candidates(name for name, _ in renamed.values())
    errors: dict[int, InputError] = {}
    for position, (name, key) in renamed.items():
        others = [node for node in called[name] if node.is_named(name)]
        if others and all(node.entity_key != key for node in others):
            other = others[0]
            errors[position] = InputError(
                f"{other.label} {other.name!r} ({message_key(other.entity_key)}) has that name. If both are the same "
                "thing, use merge_nodes; if not, give another name"
            )
    return errors


async def _named(
    context: ToolContext, found: FoundNodes, names: Iterable[str], labels: Sequence[str] | None
) -> dict[str, Target | InputError | None]:
    """The node with each name or alias, None if there is none, or an error that lists several."""
    candidates = await found.candidates(names, labels)
    meant_by = await in_turns(lambda one: _called(*one), candidates.items())
    called = dict(zip(candidates, meant_by, strict=True))
    ambiguous = [name for name, nodes in called.items() if len(nodes) > 1]
    errors = await context.references.resolve_each(context.user_id, ambiguous, labels, found=found) if ambiguous else {}
    meant = {name: nodes[0] for name, nodes in called.items() if len(nodes) == 1}
    notices = await other_names(meant)
    targets = {name: Target(node.entity_key, notice=notices.get(name, "")) for name, node in meant.items()}
    resolved = {name: Target(key) if isinstance(key, str) else key for name, key in errors.items()}
    return {name: targets.get(name) or resolved.get(name) for name in called}


def _called(name: str, nodes: Iterable[ReferencedNode]) -> list[ReferencedNode]:
    """The nodes with a name or alias; the beginning of a key is neither."""
    forms = ReferenceForms.of(name)
    is_owner = forms is not None and forms.is_owner
    return [node for node in nodes if is_owner or node.is_called(name)]


def _created(
    context: ToolContext, item: RememberedNode, now: datetime, idempotency_key: str | None
) -> Target | InputError:
    """A new node, or why none can be created."""
    try:
        return Target(_new_key(context, item, now, idempotency_key), is_new=True)
    except InputError as error:
        return error


def _new_key(context: ToolContext, item: RememberedNode, now: datetime, idempotency_key: str | None) -> str:
    """The key of a new node.

    Where the label's rule is random, the key derives from the name, so that concurrent calls create one node.

    Raises:
        InputError: the label is missing or unknown.
    """
    forms = ReferenceForms.of(item.name or "")
    if forms is not None and forms.is_owner:
        raise InputError(
            f"{item.name!r} means the owner of the graph, but no node is marked as the owner; give the real name and "
            "is_owner"
        )
    if item.label is None or item.name is None:
        raise InputError(
            f"No node is named exactly {item.name!r}. Give the full name or key of an existing node, or a label "
            f"({', '.join(context.ontology.labels)}) to create it"
        )
    rule = context.ontology.label(item.label)
    if not rule.is_deterministic and not item.new:
        return _derived_key(context, item)
    return _keys_of_rule(context, item, now, idempotency_key)[0]


def _derived_key(context: ToolContext, item: RememberedNode) -> str:
    """The key of a new node whose label's rule is random."""
    return str(uuid.uuid5(_NAMESPACE, "\n".join((context.user_id, item.label or "", normalised_name(item.name or "")))))


def _possible_keys(context: ToolContext, item: RememberedNode, now: datetime) -> list[str]:
    """The keys that a new node may get and another node may have."""
    rule = context.ontology.labels.get(item.label or "")
    if rule is None or item.name is None or item.new:
        return []
    if not rule.is_deterministic:
        return [_derived_key(context, item)]
    return [key for key in _keys_of_rule(context, item, now, None) if key is not None]


def _keys_of_rule(
    context: ToolContext, item: RememberedNode, now: datetime, idempotency_key: str | None
) -> tuple[str, str | None]:
    """The key of a new node by the rule of its label, and the one of its name as it is written."""
    return keys_by_spelling(
        context.ontology.label(item.label or ""),
        name=item.name or "",
        description=item.description or "",
        user_id=context.user_id,
        created_at=now.isoformat(),
        idempotency_key=idempotency_key,
    )


async def _with_earlier_keys(
    context: ToolContext,
    found: FoundNodes,
    items: Mapping[int, RememberedNode],
    targets: Mapping[int, Target | KgAgentError],
) -> Targets:
    """Use the stored node that has the key of the name as it is written, if the name has another plain form."""
    new = [
        position
        for position, target in targets.items()
        if isinstance(target, Target) and target.is_new
        if context.ontology.label(items[position].label or "").key_includes_name
    ]
    keys = await in_turns(lambda position: _keys_of_rule(context, items[position], datetime.min, None)[1], new)
    earlier = {position: key for position, key in zip(new, keys, strict=True) if key is not None}
    return {**targets, **{position: Target(key) for position, key in earlier.items() if found.node(key) is not None}}


async def _with_free_keys(
    context: ToolContext,
    found: FoundNodes,
    items: Mapping[int, RememberedNode],
    targets: Mapping[int, Target | KgAgentError],
) -> Targets:
    """Give a new node another key if a renamed node still has the key that is derived from the name.

    A node with that key and that name was created by a concurrent call after this call looked for it, and is used.
    """
    derived = {
        position: target
        for position, target in targets.items()
        if isinstance(target, Target)
        and target.is_new
        and not context.ontology.labels[items[position].label or ""].is_deterministic
    }
    free = dict(targets)
    while derived:
        # Each key derives from the one before, so that concurrent calls create one node here too.
        derived = {
            position: replace(target, entity_key=str(uuid.uuid5(_NAMESPACE, target.entity_key)))
            for position, target in derived.items()
            if (holder := found.node(target.entity_key)) is not None and not holder.is_named(items[position].name or "")
        }
        free |= derived
        if derived:
            keys = [target.entity_key for target in derived.values()]
            found = await context.references.look_up(context.user_id, (), keys=keys)
    return free
