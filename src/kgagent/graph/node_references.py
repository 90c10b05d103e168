"""Finds the nodes that references mean: by key, by the first characters of a key, by name, or
"me".
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.reference_forms import (
    MIN_PREFIX,
    ReferenceForms,
    is_short_key,
    loose_name,
    message_key,
    name_and_label,
    similar_name_query,
)
from kgagent.graph.referenced_nodes import NodeLookup, ReferencedNode, read_nodes
from kgagent.graph.schema_parts import NODE_TEXT_INDEX
from kgagent.graph.statements import statement
from kgagent.graph.store import Row, Store
from kgagent.names import is_near, normalised_name, plain_text, shorten_name
from kgagent.ontology import Ontology
from kgagent.turns import in_turns

NEAREST_TWO_CHANGED = 6
"""Minimum number of letters of a word of which two may be wrong in the nearest name: "Sophia",
"Sofia".
"""

MAX_LISTED = 10
"""Nodes that the error about an ambiguous reference lists."""

MAX_NEAREST = 5
"""Nodes that the error about an unknown reference lists."""

MAX_COMPARED = 20
"""Nodes whose names are compared with an unknown reference."""

MAX_EXPLAINED = 20
"""Unknown references of one call whose nearest names are searched."""

MAX_LOOSE = 100
"""Unknown names of one call that are compared without accents and as parts of names; each takes
time for each node.
"""

MAX_INDEXED_NAMES = 64
"""Names of one call that are looked up in the full-text index; for more it is faster to read all
names of the user.
"""

WINDOW = 200
"""Matches of the full-text index that are examined for a name."""


@dataclass(frozen=True)
class ResolvedReferences:
    """What the references of a call mean; keys mean themselves.

    Attributes:
        keys: for each reference that is no key, the key of its node, or the error.
        notices: for each reference that is not exactly a name, which node it means.
    """

    keys: Mapping[str, str | InputError] = field(default_factory=dict)
    notices: Mapping[str, str] = field(default_factory=dict)

    def key(self, reference: str) -> str:
        """The key of a node; the reference itself if it means none.

        Raises:
            InputError: the reference is ambiguous.
        """
        key = self.keys.get(reference, reference)
        if isinstance(key, NodeNotFoundError):
            return reference
        if isinstance(key, InputError):
            raise key
        return key

    def ends(self, *references: str) -> list[str]:
        """The keys of the two nodes of a relationship.

        Raises:
            NodeNotFoundError: a node does not exist.
            InputError: a reference is ambiguous.
        """
        keys = [self.key(reference) for reference in references]
        missing = [
            reference
            for reference in references
            if isinstance(self.keys.get(reference), InputError)
        ]
        if missing:
            shown = ", ".join(dict.fromkeys(missing))
            raise NodeNotFoundError(f"One or both nodes do not exist: {shown}", self.hint(missing))
        return keys

    def hint(self, references: Iterable[str]) -> str:
        """The nodes with the nearest names of references that mean no node."""
        errors = (self.keys.get(reference) for reference in references)
        hints = (
            error.hint for error in errors if isinstance(error, NodeNotFoundError) and error.hint
        )
        return ". ".join(dict.fromkeys(hints))

    def notices_of(self, references: Iterable[str]) -> list[str]:
        """Which nodes references mean that are not exactly names."""
        return [self.notices[name] for name in dict.fromkeys(references) if name in self.notices]


class NodeReferences:
    """Resolves references to the nodes of a user; each call names the owner.

    A reference is the `entity_key` of a node, at least 8 of its first characters, or its name,
    ignoring differences of letter case, Unicode compatibility forms, apostrophes and white space;
    if no node has that name, one of its `aliases`. "me", "I" and "myself" mean the owner of the
    graph (`is_owner`) if there is one, even if another node has that name.
    """

    def __init__(self, store: Store, ontology: Ontology) -> None:
        self._store = store
        self._ontology = ontology
        labels = Identifier.any_of(ontology.labels)
        owner = ontology.owner_label
        owners = labels if owner is None else Identifier(owner)
        self._resolve = statement("resolve_references", labels=labels, owner=owners)
        self._loose = statement("find_loose_names", labels=labels, owner=owners)

    async def resolve(self, user_id: str, references: Iterable[str]) -> dict[str, str]:
        """Find the `entity_key` of the node that each reference means.

        Raises:
            NodeNotFoundError: the user has no such node; the text lists those with the nearest
                names.
            InputError: the user has several such nodes; the text lists them.
            StoreError: the database failed.
        """
        resolved = await self.resolve_each(user_id, references)
        if error := next(
            (outcome for outcome in resolved.values() if isinstance(outcome, InputError)), None
        ):
            raise error
        return {reference: key for reference, key in resolved.items() if isinstance(key, str)}

    async def resolve_each(
        self,
        user_id: str,
        references: Iterable[str],
        labels: Collection[str] | None = None,
        *,
        lookup: NodeLookup | None = None,
    ) -> dict[str, str | InputError]:
        """Like `resolve`, but with the error in the place of each reference that has no or no
        single node.

        Args:
            user_id: owner of the nodes.
            references: entity keys, beginnings of entity keys, names, "me".
            labels: labels of which a node must have one; None for any.
            lookup: what `look_up` returned for the references; None asks the database.

        Raises:
            StoreError: the database failed.
        """
        asked = list(references)
        lookup = lookup or await self.look_up(user_id, asked)
        return await self._outcomes(
            user_id, await lookup.candidates(asked, labels), labels, lookup=lookup
        )

    async def resolve_loosely(
        self,
        user_id: str,
        references: Iterable[str],
        *,
        exactly: Collection[str] = (),
        lookup: NodeLookup | None = None,
    ) -> ResolvedReferences:
        """Like `resolve_each`, but a name that no node has may lack accents, or be a part of the
        name of one person.

        Args:
            user_id: owner of the nodes.
            references: entity keys, beginnings of entity keys, names, "me".
            exactly: names, normalised, that must be exactly the name of a node.
            lookup: what `look_up` returned for the references; None asks the database.

        Raises:
            StoreError: the database failed.
        """
        asked = list(references)
        lookup = lookup or await self.look_up(user_id, asked)
        candidates = await lookup.candidates(asked)
        unknown = [reference for reference, nodes in candidates.items() if not nodes]
        names = dict(zip(unknown, await in_turns(normalised_name, unknown), strict=True))
        loose = [reference for reference in unknown if names[reference] not in exactly]
        await self._compare_loosely(user_id, lookup, loose)
        named = {
            reference: node
            for reference in loose
            if (node := lookup.loose.get(reference)) is not None
        }
        outcomes = await self._outcomes(
            user_id, candidates | {name: (node,) for name, node in named.items()}, lookup=lookup
        )
        meant = {
            reference: nodes[0] for reference, nodes in candidates.items() if len(nodes) == 1
        } | named
        return ResolvedReferences(outcomes, await other_names(meant, loosely=named.keys()))

    async def look_up(
        self,
        user_id: str,
        references: Iterable[str],
        *,
        keys: Iterable[str] = (),
        with_owners: bool = False,
    ) -> NodeLookup:
        """Find all nodes that references may mean, in one statement; in two if the index is full of
        a name.

        Args:
            user_id: owner of the nodes.
            references: entity keys, beginnings of entity keys, names, "me".
            keys: further keys.
            with_owners: whether the owners are read even if no reference means them.

        Raises:
            StoreError: the database failed.
        """
        texts = list(dict.fromkeys(references))
        parts = [
            part
            for text in texts
            if (part := name_and_label(text)) and part[1] in self._ontology.labels
        ]
        asked = [*texts, *(name for name, _ in parts)]
        read = zip(asked, await in_turns(ReferenceForms.of, asked), strict=True)
        forms_of = {text: form for text, form in read if form is not None}
        forms = forms_of.values()
        names = {form.name: form for form in forms if form.may_be_name}
        is_indexed = len(names) <= MAX_INDEXED_NAMES
        wanted: dict[str, list[Any]] = {
            "keys": list(dict.fromkeys((*(key for form in forms for key in form.keys), *keys))),
            "prefixes": list(dict.fromkeys(prefix for form in forms for prefix in form.prefixes)),
            "owners": [True] if with_owners or any(form.is_owner for form in forms) else [],
            "names": await in_turns(
                lambda form: form.name_parameters(user_id), names.values() if is_indexed else ()
            ),
            "scans": [] if is_indexed else [await in_turns(plain_text, names)],
        }
        if not any(wanted.values()):
            return NodeLookup(self._ontology)
        lookup = NodeLookup(self._ontology)
        lookup.add(await self._asked(user_id, wanted))
        candidates = await lookup.candidates(asked)
        unread = [
            form.plain
            for text, form in forms_of.items()
            if lookup.is_cut(form) and not candidates[text]
        ]
        if unread:
            lookup.add(await self._asked(user_id, {"scans": [unread]}))
        return lookup

    async def look_up_unknown(
        self, user_id: str, lookup: NodeLookup, references: Iterable[str]
    ) -> None:
        """Compare references to no node loosely and with similar names, for later calls of
        `resolve_loosely`.

        Args:
            user_id: owner of the nodes.
            lookup: receives what the database returned.
            references: those of them that mean a node are left out.

        Raises:
            StoreError: the database failed.
        """
        candidates = await lookup.candidates(references)
        unknown = [reference for reference, nodes in candidates.items() if not nodes]
        await self._compare_loosely(user_id, lookup, unknown)
        left = [reference for reference in unknown if lookup.loose.get(reference) is None]
        lookup.nearest |= dict.fromkeys(left, ())
        lookup.nearest |= await self._nearest(user_id, left)

    async def owner(self, user_id: str) -> ReferencedNode | None:
        """Find the node that stands for the user (`is_owner`); None if there is none, or more than
        one.

        Raises:
            StoreError: the database failed.
        """
        owners = await self.owners(user_id)
        return owners[0] if len(owners) == 1 else None

    async def owners(self, user_id: str) -> list[ReferencedNode]:
        """Find the nodes that stand for the user; tools allow only one.

        Raises:
            StoreError: the database failed.
        """
        return (await self.look_up(user_id, (), with_owners=True)).owners()

    async def _compare_loosely(
        self, user_id: str, lookup: NodeLookup, names: Iterable[str]
    ) -> None:
        """Find the node that only one name has without accents, or as whole words of the name of a
        person.

        Args:
            user_id: owner of the nodes.
            lookup: receives the nodes; names that it has already cost no statement.
            names: names that no node has; the first 100 are compared.
        """
        asked = [name for name in dict.fromkeys(names) if name not in lookup.loose]
        plain = zip(asked, await in_turns(loose_name, asked), strict=True)
        loose = ((name, text) for name, text in plain if text is not None)
        is_person_known = self._ontology.owner_label is not None
        compared = dict(islice(loose, max(0, MAX_LOOSE - len(lookup.loose))))
        wanted = [
            {"text": name, "plain": text, "may_be_part": is_person_known}
            for name, text in compared.items()
        ]
        rows = (
            await self._store.read(self._loose, {"user_id": user_id, "names": wanted, "most": 2})
            if wanted
            else []
        )
        nodes = {row["text"]: list(read_nodes(row["nodes"], self._ontology, None)) for row in rows}
        lookup.loose |= dict.fromkeys(compared)
        lookup.loose |= {name: same[0] for name, same in nodes.items() if len(same) == 1}

    async def _outcomes(
        self,
        user_id: str,
        candidates: Mapping[str, Sequence[ReferencedNode]],
        labels: Collection[str] | None = None,
        *,
        lookup: NodeLookup,
    ) -> dict[str, str | InputError]:
        unread = [
            reference
            for reference, nodes in candidates.items()
            if not nodes and reference not in lookup.nearest
        ]
        nearest = {**lookup.nearest, **await self._nearest(user_id, unread, labels)}
        outcomes = await in_turns(
            lambda item: (
                item[1][0].entity_key if len(item[1]) == 1 else _resolution_error(*item, nearest)
            ),
            candidates.items(),
        )
        return dict(zip(candidates, outcomes, strict=True))

    async def _asked(self, user_id: str, wanted: Mapping[str, Sequence[Any]]) -> Row:
        # The database would plan the statement again for other lengths of lists that are parameters
        # themselves.
        parameters = {
            "user_id": user_id,
            "asked": wanted,
            "index": NODE_TEXT_INDEX,
            "window": WINDOW,
        }
        [row] = await self._store.read(self._resolve, {**parameters, "most": MAX_LISTED + 1})
        return row

    async def _nearest(
        self, user_id: str, references: Sequence[str], labels: Collection[str] | None = None
    ) -> dict[str, list[str]]:
        """List the nodes with the nearest names, by reference and at most 5 each; for the first 20
        references.
        """
        names = [
            reference
            for reference in references[:MAX_EXPLAINED]
            if loose_name(reference) is not None
        ]
        asked = [
            (reference, {"text": query, "of_alias": of_alias})
            for field, of_alias in (("name", None), ("notes_text", True))
            for reference in names
            if (
                query := similar_name_query(
                    plain_text(reference), user_id, field, two_changed=NEAREST_TWO_CHANGED
                )
            )
        ]
        if not asked:
            return {}
        queries = [
            {"position": position, "label": None, **query}
            for position, (_, query) in enumerate(asked)
        ]
        parameters = {"index": NODE_TEXT_INDEX, "fetch": WINDOW, "limit": MAX_COMPARED}
        rows = await self._store.read(
            statement("find_similar_names"),
            {"user_id": user_id, "queries": queries, "excluded": [], **parameters},
        )
        ordered = sorted(rows, key=lambda row: row["position"])

        def near(row: Row) -> list[ReferencedNode]:
            reference, _ = asked[row["position"]]
            nodes = read_nodes([row], self._ontology, labels)
            return [node for node in nodes if is_near(reference, (node.name, *node.aliases))]

        nearest: dict[str, dict[str, str]] = {}
        for row, nodes in zip(ordered, await in_turns(near, ordered), strict=True):
            listed = nearest.setdefault(asked[row["position"]][0], {})
            for node in nodes:
                listed.setdefault(node.entity_key, node.listed(message_key(node.entity_key)))
        return {
            reference: [*listed.values()][:MAX_NEAREST]
            for reference, listed in nearest.items()
            if listed
        }


async def other_names(
    meant: Mapping[str, ReferencedNode], *, loosely: Collection[str] = ()
) -> dict[str, str]:
    """Say which nodes other names mean: "Anna → Anna Berger (Person, 5b0c1a2f-11a)".

    Args:
        meant: the node that each reference means.
        loosely: references that are parts of names, or lack accents.
    """
    others = await in_turns(
        lambda item: item[0] in loosely or item[1].has_alias(item[0]), meant.items()
    )
    return {
        reference: (
            f"{_shown(reference)} → {shorten_name(node.name)} ({node.label}, "
            f"{message_key(node.entity_key)})"
        )
        for (reference, node), is_other in zip(meant.items(), others, strict=True)
        if is_other
    }


def _resolution_error(
    reference: str, nodes: Sequence[ReferencedNode], nearest: Mapping[str, Sequence[str]]
) -> InputError:
    """The error for a reference to several nodes, or to none."""
    shown = _shown(reference)
    if nodes:
        count = f"more than {MAX_LISTED}" if len(nodes) > MAX_LISTED else str(len(nodes))
        listed = "; ".join(
            node.listed(_distinct_key(node, nodes, reference)) for node in nodes[:MAX_LISTED]
        )
        return InputError(f"{shown} could refer to {count} nodes; give the key of one: {listed}")
    hint = f"Nearest to {shown}: {'; '.join(nearest[reference])}" if nearest.get(reference) else ""
    forms = ReferenceForms.of(reference)
    if not hint and is_short_key(reference):
        hint = f"Keys need at least {MIN_PREFIX} characters"
    if forms is not None and forms.is_owner:
        hint = (
            "No node is marked as the owner of this graph: first set `is_owner` to true on that "
            "person's node"
        )
    return NodeNotFoundError(f"Node not found: {shown}", hint)


def _distinct_key(node: ReferencedNode, nodes: Sequence[ReferencedNode], reference: str) -> str:
    """A node's key, shortened unless another of the nodes begins so, or a name looks like the
    beginning of the key.
    """
    short = message_key(node.entity_key)
    others = sum(other.entity_key.startswith(short) for other in nodes)
    return node.entity_key if others > 1 or short == reference.strip() else short


def _shown(reference: str) -> str:
    """A reference in an error."""
    text = shorten_name(reference)
    return text if text.isprintable() else repr(text)
