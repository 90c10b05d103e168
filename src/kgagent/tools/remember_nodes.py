"""Which nodes the items of a call of remember describe, and which nodes its references mean."""

import json
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from kgagent.errors import InputError, KgAgentError, NodeNotFoundError
from kgagent.graph.node_references import other_names
from kgagent.graph.reference_forms import OWNER_WORDS, ReferenceForms, loose_name, message_key
from kgagent.graph.referenced_nodes import NodeLookup, ReferencedNode
from kgagent.names import contains_words, normalised_name, plain_text
from kgagent.ontology import Ontology
from kgagent.tools.context import ToolContext
from kgagent.tools.node_tools import new_node_keys
from kgagent.tools.remember_arguments import RememberedNode

MAX_LISTED = 3
"""Number of nodes of the call that an error lists."""

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
) -> dict[int, list[str]]:
    """The keys that the node of each item may have if it is new; none if the item cannot create
    one.

    Where the label's rule is random, the key derives from the name, so that concurrent calls create
    one node.
    """
    keys: dict[int, list[str]] = {}
    same_content: dict[str, int] = {}
    for position, item in items.items():
        rule = context.ontology.labels.get(item.label or "")
        if rule is None or item.label is None or item.name is None or item.entity_key is not None:
            continue
        name = normalised_name(item.name)
        if not rule.is_deterministic and not item.new:
            derived = uuid.uuid5(_NAMESPACE, "\n".join((context.user_id, item.label, name)))
            keys[position] = [str(derived)]
            continue
        identity = None
        if idempotency_key is not None:
            # Calls with one idempotency key may give the same nodes in another order.
            content = json.dumps([item.label, name, item.description])
            number = same_content[content] = same_content.get(content, -1) + 1
            identity = json.dumps([idempotency_key, content, number])
        keys[position] = new_node_keys(
            context, item.label, item.name, item.description or "", now, idempotency_key=identity
        )
    return keys


async def find_targets(
    context: ToolContext,
    stored: NodeLookup,
    items: Mapping[int, RememberedNode],
    keys: Mapping[int, list[str]],
) -> dict[int, Target | KgAgentError]:
    """Find the node that each item describes: by `entity_key`, by name, or a new one.

    Args:
        context: the user's graph.
        stored: the nodes that the names and keys of the items may mean.
        items: the items by their positions.
        keys: see `new_keys`.

    Returns:
        A target for each position, or the error of the item.
    """
    targets: dict[int, Target | KgAgentError] = {}
    given = {item.entity_key: item for item in items.values() if item.entity_key is not None}
    # An item that renames a node must name it exactly.
    exactly = {normalised_name(key) for key, item in given.items() if item.name is not None}
    resolved = await context.references.resolve_loosely(
        context.user_id, given, exactly=exactly, lookup=stored
    )
    notices = resolved.notices
    for position, item in items.items():
        try:
            if item.entity_key is not None:
                key = resolved.keys[item.entity_key]
                if isinstance(key, InputError):
                    raise key
                targets[position] = Target(
                    key, renames=True, notice=notices.get(item.entity_key, "")
                )
            else:
                named = None if item.new else await _named(context, stored, item)
                targets[position] = named or _created(context, stored, item, keys.get(position, []))
        except InputError as error:
            targets[position] = error
    targets |= dict(_indistinct(items, targets))
    targets |= dict(_named_as_owner(items, targets, stored.owners()))
    for position, item in items.items():
        target = targets[position]
        if isinstance(target, Target) and target.renames and item.name is not None:
            targets[position] = await _renamed(stored, item.name, target)
        elif isinstance(target, Target) and target.is_new:
            targets[position] = await _with_free_key(context, stored, item, target)
    return targets


async def _named(context: ToolContext, stored: NodeLookup, item: RememberedNode) -> Target | None:
    """The node with the name or alias of an item, if there is one.

    Raises:
        InputError: there are several.
    """
    name, labels = item.name or "", None if item.label is None else [item.label]
    if item.label is not None and item.label not in context.ontology.labels:
        return None
    candidates = (await stored.candidates([name], labels))[name]
    # The beginning of a key is no name.
    nodes = [node for node in candidates if _means_owner(name) or node.is_called(name)]
    if len(nodes) > 1:
        key = (
            await context.references.resolve_each(context.user_id, [name], labels, lookup=stored)
        )[name]
        if isinstance(key, InputError):
            raise key
        return Target(key)
    if not nodes:
        return None
    return Target(nodes[0].entity_key, notice=(await other_names({name: nodes[0]})).get(name, ""))


def _created(
    context: ToolContext, stored: NodeLookup, item: RememberedNode, keys: list[str]
) -> Target:
    """A new node, or the stored one with the key of the name as it is written.

    Raises:
        InputError: none can be created.
    """
    if _means_owner(item.name or ""):
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
    earlier = next((key for key in keys[1:] if stored.node(key) is not None), None)
    return Target(keys[0], is_new=True) if earlier is None else Target(earlier)


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
    items: Mapping[int, RememberedNode], targets: Targets, owners: Collection[ReferencedNode]
) -> Iterator[tuple[int, InputError]]:
    """The errors of items with a ref such as "me" that describe another node than the owner of the
    graph.
    """
    for position, item in items.items():
        target = targets[position]
        if (
            not owners
            or item.ref is None
            or not _means_owner(item.ref)
            or not isinstance(target, Target)
        ):
            continue
        if target.entity_key not in {owner.entity_key for owner in owners}:
            owner = next(iter(owners))
            shown = owner.listed(message_key(owner.entity_key))
            yield (
                position,
                InputError(
                    f"ref {item.ref!r} means the owner of the graph, {shown}. Give another ref"
                ),
            )


async def _renamed(stored: NodeLookup, name: str, target: Target) -> Target | InputError:
    """The target, or the error if its new name is that of another node."""
    others = [node for node in (await stored.candidates([name]))[name] if node.is_named(name)]
    if not others or any(node.entity_key == target.entity_key for node in others):
        return target
    shown = f"{others[0].label} {others[0].name!r} ({message_key(others[0].entity_key)})"
    return InputError(
        f"{shown} has that name. If both are the same thing, use merge_nodes; if not, give another "
        f"name"
    )


async def _with_free_key(
    context: ToolContext, stored: NodeLookup, item: RememberedNode, target: Target
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
        stored = await context.references.look_up(context.user_id, (), keys=[key])
    return Target(key, is_new=True)


def _means_owner(name: str) -> bool:
    forms = ReferenceForms.of(name)
    return forms is not None and forms.is_owner


@dataclass(frozen=True)
class _NamedNode:
    """A node of the call, by a name that a reference may lack accents of, or be a part of.

    Attributes:
        key: its key; None if it cannot be written.
        has_parts: whether a part of the name means the node, as it does for people.
    """

    name: str
    key: str | None
    has_parts: bool = True

    @cached_property
    def plain(self) -> str:
        """The name without accents."""
        return plain_text(self.name)

    def is_similar(self, plain: str) -> bool:
        """Whether the plain text of a reference is the name without accents, or a part of it."""
        return self.plain == plain or (self.has_parts and contains_words(self.plain, plain))


class References:
    """What the references of a call mean: a `ref` or name of one of its nodes, or a node of the
    graph.

    Attributes:
        owner: key of the node that the call marks as the owner.
        notices: which nodes those references mean that are not exactly a name.
    """

    def __init__(
        self,
        items: Mapping[int, RememberedNode],
        targets: Targets,
        rejected: Mapping[str, int],
        ontology: Ontology,
    ) -> None:
        """Collect what refers to the nodes of the call.

        Args:
            items: the nodes of the call.
            targets: what they describe.
            rejected: refs and names of invalid nodes of the call, with the positions of the nodes;
                no node with a similar name stands for them.
            ontology: says which nodes are people.
        """
        self.owner: str | None = None
        self.notices: dict[str, str] = {}
        self._stored: dict[str, str | InputError] = {}
        # Keys of nodes with the positions of their items: several if a ref, name or alias is that
        # of several nodes.
        self._refs: dict[str, dict[str, int]] = {}
        self._names: dict[str, dict[str, int]] = {}
        self._aliases: dict[str, dict[str, int]] = {}
        self._unwritten = {
            form: index
            for name, index in rejected.items()
            for form in (name, normalised_name(name))
        }
        self._failed_refs: dict[str, int] = {}
        self._named = [_NamedNode(name, None) for name in rejected]
        for position, item in items.items():
            target = targets[position]
            name = item.name and normalised_name(item.name)
            if not isinstance(target, Target):
                self._failed_refs |= {item.ref: position} if item.ref else {}
                self._unwritten |= {
                    form: position for form in (item.ref, name, item.entity_key) if form
                }
                self._named += [_NamedNode(item.name, None)] if item.name else []
                continue
            key = target.entity_key
            if item.is_owner:
                self.owner = self.owner or key
            for forms, form in (
                *([(self._refs, item.ref)] if item.ref else []),
                *((self._names, form) for form in (name, item.entity_key) if form),
                *((self._aliases, normalised_name(alias)) for alias in item.aliases),
            ):
                forms.setdefault(form, {}).setdefault(key, position)
            is_person = item.label in {None, ontology.owner_label}
            self._named += [_NamedNode(item.name, key, is_person)] if item.name else []
            self._named += [_NamedNode(alias, key, False) for alias in item.aliases]
        # "me" is the owner of the graph, whatever a node of the call is called; without an owner,
        # it is that node.
        self._self_named: dict[str, str] = {}
        for word in OWNER_WORDS - self._refs.keys():
            for forms in (self._aliases, self._names):
                keys = list(forms.pop(word, {}))
                self._self_named |= {word: keys[0]} if len(keys) == 1 else {}

    async def resolve(
        self, context: ToolContext, stored: NodeLookup, references: Iterable[str]
    ) -> None:
        """Find the nodes of the graph that references mean, unless they mean nodes of the call.

        Args:
            context: the user's graph.
            stored: what `look_up` returned for the references.
            references: what to resolve.
        """
        asked = [
            text
            for text in dict.fromkeys(references)
            if not self._in_call(text) and not self._is_shared(text)
        ]
        shared_aliases = {name for name, keys in self._aliases.items() if len(keys) > 1}
        exactly = {
            *self._unwritten,
            *map(normalised_name, self._refs),
            *self._names,
            *shared_aliases,
        }
        loose = await context.references.resolve_loosely(
            context.user_id, asked, exactly=exactly, lookup=stored
        )
        for reference in asked:
            key, notice, name = (
                loose.keys[reference],
                loose.notices.get(reference, ""),
                normalised_name(reference),
            )
            if isinstance(key, InputError) and name in self._self_named:
                key = self._self_named[name]
            elif name not in shared_aliases and (isinstance(key, NodeNotFoundError) or notice):
                key, notice = self._compared_with_call(reference, key, notice)
            self._stored[reference] = key
            self.notices |= {reference: notice} if notice else {}

    def key(self, reference: str) -> str:
        """The key of the node that a reference means.

        Raises:
            InputError: it means none, or several.
        """
        if len(self._refs.get(reference, ())) > 1:
            raise InputError(
                f"Several nodes in this call have the ref {reference!r}; give each node its own"
            )
        if reference in self._failed_refs:
            raise InputError(
                f"{reference!r} is nodes[{self._failed_refs[reference]}], which was not written"
            )
        key = self._in_call(reference) or self._stored.get(reference)
        if isinstance(key, str):
            return key
        name = normalised_name(reference)
        positions = list(self._names.get(name, {}).values())
        if isinstance(key, NodeNotFoundError):
            positions = positions or list(self._aliases.get(name, {}).values())
        if key is None or positions:
            listed = ", ".join(f"nodes[{position}]" for position in positions[:MAX_LISTED])
            more = f" and {len(positions) - MAX_LISTED} more" if len(positions) > MAX_LISTED else ""
            raise InputError(
                f"{reference!r} is a name of {listed}{more}; use the ref or the key of the node "
                f"that is meant"
            )
        position = self._unwritten.get(reference, self._unwritten.get(name))
        if position is not None:
            raise InputError(f"{reference!r} is nodes[{position}], which was not written")
        if isinstance(key, NodeNotFoundError) and not key.hint:
            raise NodeNotFoundError(key.problem, "Add it to nodes to create it")
        raise key

    def _in_call(self, reference: str) -> str | None:
        """The key of the only node of the call with a ref, name or alias."""
        name = normalised_name(reference)
        if self.owner is not None and name in OWNER_WORDS:
            return self.owner
        for forms in (self._refs, self._names, self._aliases):
            for form in (reference, name):
                if len(keys := forms.get(form, {})) == 1:
                    return next(iter(keys))
            if forms is self._names and name in forms:
                return None
        return None

    def _is_shared(self, reference: str) -> bool:
        return (
            len(self._refs.get(reference, ())) > 1
            or len(self._names.get(normalised_name(reference), ())) > 1
        )

    def _compared_with_call(
        self, reference: str, key: str | InputError, notice: str
    ) -> tuple[str | InputError, str]:
        """Match a reference with nodes of the call, by their names without accents or by a part of
        a person's name.

        Args:
            reference: it is no exact name.
            key: the node of the graph that it means, or the error.
            notice: which node that is.

        Returns:
            The key or the error, and the notice, if a node of the call is, or may be, meant.
        """
        plain = loose_name(reference)
        similar = [node for node in self._named if plain is not None and node.is_similar(plain)]
        if not similar:
            return key, notice
        keys = {node.key for node in similar} | ({key} if isinstance(key, str) else set())
        [first, *others] = keys
        if first is not None and not others:
            return first, notice or f"{reference} → {similar[0].name}"
        names = " or ".join(repr(name) for name in dict.fromkeys(node.name for node in similar))
        error = InputError(
            f"{reference!r} could refer to {names} in this call; give a full name, or the key of a "
            f"stored node"
        )
        return error, ""


def unknown_in_call(
    references: Iterable[str], items: Collection[RememberedNode], rejected: Collection[str]
) -> list[str]:
    """The references that are no ref, name or alias of a node of the call."""
    names = [name for item in items for name in (item.ref, item.name, *item.aliases) if name]
    own = {*names, *map(normalised_name, names), *rejected}
    return [
        text for text in dict.fromkeys(references) if own.isdisjoint((text, normalised_name(text)))
    ]
