"""Finds the nodes that references mean: by key, by the first characters of a key, by name, or "me"."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.formatting import counted
from kgagent.graph.identifiers import Identifier
from kgagent.graph.reference_forms import (
    MIN_PREFIX,
    LooseName,
    ReferenceForms,
    alias_query,
    compared_name,
    is_near,
    is_short_key,
    name_and_label,
    normalised_name,
    similar_name_query,
)
from kgagent.graph.referenced_nodes import FoundNodes, ReferencedNode, in_order, read_nodes
from kgagent.graph.schema_parts import NODE_TEXT_INDEX
from kgagent.graph.short_keys import shortest_unique
from kgagent.graph.statements import statement
from kgagent.graph.store import Row, Store
from kgagent.ontology import Ontology
from kgagent.suggestions import shorten_name
from kgagent.turns import in_turns

NEAREST_TWO_CHANGED = 6
"""Minimum number of letters of a word of which two may be wrong in the nearest name: "Sophia", "Sofia"."""

MAX_LISTED = 10
"""Nodes that the error about an ambiguous reference lists."""

MAX_NEAREST = 5
"""Nodes that the error about an unknown reference lists."""

MAX_COMPARED = 20
"""Nodes whose names are compared with an unknown reference."""

MAX_EXPLAINED = 20
"""Unknown references of one call whose nearest names are searched."""

MAX_LOOSE = 100
"""Unknown names of one call that are compared without accents and as parts of names; each takes time for each node."""

MAX_INDEXED_NAMES = 64
"""Names of one call that are looked up in the full-text index; for more it is faster to read all names of the user."""

WINDOW = 200
"""Matches of the full-text index that are examined for a name."""

PREFIX_LENGTHS = (MIN_PREFIX, 18)
"""Lengths of the beginnings of keys that are compared, the next if many keys begin alike."""

MAX_SIMILAR_KEYS = 20


@dataclass(frozen=True)
class LooseResolution:
    """What references mean, of which some are not exactly the name of their node.

    Attributes:
        keys: for each reference the key, or the error.
        notices: for each reference that is not exactly the name which node it means: "Anna → Anna Berger (5b0c1a2f)".
        shared: the same for each that is the name of one node and an alias of others, which it names.
    """

    keys: Mapping[str, str | InputError]
    notices: Mapping[str, str]
    shared: Mapping[str, str]

    @property
    def all_notices(self) -> dict[str, str]:
        """The notices of both kinds."""
        return {**self.notices, **self.shared}


class NodeReferences:
    """Resolves references to the nodes of a user; each call names the owner.

    A reference is the `entity_key` of a node, at least 8 of its first characters, or its name, ignoring differences of
    letter case, Unicode compatibility forms and white space; if no node has that name, one of its `aliases`. "me", "I"
    and "myself" mean the owner of the graph (`is_owner`) if there is one, even if another node has that name.
    """

    def __init__(self, store: Store, ontology: Ontology) -> None:
        self._store = store
        self._ontology = ontology
        labels = Identifier.any_of(ontology.labels)
        owner = ontology.owner_label
        self._names = {"labels": labels}
        owners = labels if owner is None else Identifier(owner)
        self._resolve = statement("resolve_references", labels=labels, owner=owners)
        self._loose = statement("find_loose_names", labels=labels, owner=owners)
        self._owners = statement("find_owners", owner=owners)

    async def resolve(
        self, user_id: str, references: Iterable[str], labels: Collection[str] | None = None
    ) -> dict[str, str]:
        """Find the `entity_key` of the node that each reference means.

        Args:
            user_id: owner of the nodes.
            references: entity keys, beginnings of entity keys, names, "me".
            labels: labels of which a node must have one; None for any.

        Raises:
            NodeNotFoundError: the user has no such node; the text lists those with the nearest names.
            InputError: the user has several such nodes; the text lists them.
            StoreError: the database failed.
        """
        resolved = await self.resolve_each(user_id, references, labels)
        errors = [found for found in resolved.values() if isinstance(found, InputError)]
        if errors:
            others = len(errors) - 1
            more = f". {counted(others, 'other reference')} failed too" if others else ""
            raise type(errors[0])(f"{errors[0]}{more}")
        return {reference: found for reference, found in resolved.items() if isinstance(found, str)}

    async def resolve_each(
        self, user_id: str, references: Iterable[str], labels: Collection[str] | None = None
    ) -> dict[str, str | InputError]:
        """Like `resolve`, but with the error in the place of each reference that has no or no single node.

        Raises:
            StoreError: the database failed.
        """
        return await self._outcomes(user_id, await self.candidates(user_id, references, labels), labels)

    async def resolve_loosely(
        self,
        user_id: str,
        references: Iterable[str],
        *,
        exactly: Collection[str] = (),
        whole: Collection[str] = (),
    ) -> LooseResolution:
        """Like `resolve_each`, but a name that no node has may lack accents, or be a part of the name of one person.

        Args:
            user_id: owner of the nodes.
            references: entity keys, beginnings of entity keys, names, "me".
            exactly: names, normalised, that must be exactly the name of a node.
            whole: references that may lack accents, but are not a part of a name.

        Raises:
            StoreError: the database failed.
        """
        candidates = await self.candidates(user_id, references)
        unknown = [reference for reference, nodes in candidates.items() if not nodes]
        forms = await in_turns(
            lambda reference: None if normalised_name(reference) in exactly else LooseName.of(reference), unknown
        )
        loose = {reference: form for reference, form in zip(unknown, forms, strict=True) if form is not None}
        compared = dict(islice(loose.items(), MAX_LOOSE))
        found = await self._loosely_named(user_id, compared, whole)
        outcomes = await self._outcomes(user_id, candidates | {name: (node,) for name, node in found.items()})
        omitted = {name: _not_compared(name) for name in loose.keys() - compared.keys()}
        meant = {reference: nodes[0] for reference, nodes in candidates.items() if len(nodes) == 1} | found
        others = await self._also_called(user_id, meant)
        notices = await self.notices(user_id, meant, loosely=found.keys() | others.keys())
        shared = {name: f"{notices.pop(name)}; also an alias of {also}" for name, also in others.items()}
        return LooseResolution(keys=outcomes | omitted, notices=notices, shared=shared)

    async def _also_called(self, user_id: str, meant: Mapping[str, ReferencedNode]) -> dict[str, str]:
        """For each reference that is the name of its node, which other nodes have it as an alias, if any."""
        read = await in_turns(lambda one: ReferenceForms.of(one[0]) if one[1].is_named(one[0]) else None, meant.items())
        forms = {name: form for name, form in zip(meant, read, strict=True) if form is not None and form.may_be_name}
        called = await self._called(user_id, forms, None, scan=False)
        others = {
            name: [one for one in nodes if one.entity_key != meant[name].entity_key] for name, nodes in called.items()
        }
        return {name: ", ".join(shorten_name(one.name) for one in nodes) for name, nodes in others.items() if nodes}

    async def notices(
        self, user_id: str, meant: Mapping[str, ReferencedNode], *, loosely: Collection[str] = ()
    ) -> dict[str, str]:
        """Say which nodes other names mean: "Anna → Anna Berger (Person, 5b0c1a2f)"; nothing for keys and names.

        Args:
            user_id: owner of the nodes.
            meant: the node that each reference means.
            loosely: references that are parts of names, or lack accents.

        Raises:
            StoreError: the database failed.
        """
        others = await in_turns(lambda one: one[0] in loosely or one[1].has_alias(one[0]), meant.items())
        other = {reference: node for (reference, node), is_other in zip(meant.items(), others, strict=True) if is_other}
        short = await self.short_keys(user_id, [node.entity_key for node in other.values()])
        return {
            reference: f"{_shown(reference)} → {shorten_name(node.name)} ({node.label}, {short[node.entity_key]})"
            for reference, node in other.items()
        }

    async def _loosely_named(
        self, user_id: str, names: Mapping[str, LooseName], whole: Collection[str]
    ) -> dict[str, ReferencedNode]:
        """The node of each name that only one node has without accents, or as whole words of the name of a person."""
        if not names:
            return {}
        is_person_known = self._ontology.owner_label is not None
        rows = await self._store.read(
            self._loose,
            {
                "user_id": user_id,
                "names": [
                    {
                        "text": reference,
                        "letters": form.letters,
                        "whole": form.whole,
                        "words": form.words if is_person_known and reference not in whole else form.whole,
                    }
                    for reference, form in names.items()
                ],
                "most": 2,
            },
        )
        found = {row["text"]: list(read_nodes(row["nodes"], self._ontology, None)) for row in rows}
        return {reference: nodes[0] for reference, nodes in found.items() if len(nodes) == 1}

    async def _outcomes(
        self,
        user_id: str,
        candidates: Mapping[str, Sequence[ReferencedNode]],
        labels: Collection[str] | None = None,
    ) -> dict[str, str | InputError]:
        unknown = [reference for reference, nodes in candidates.items() if not nodes]
        nearest = await self.nearest(user_id, unknown, labels)
        listed = [node for nodes in candidates.values() if len(nodes) > 1 for node in nodes[:MAX_LISTED]]
        short = await self.short_keys(user_id, [node.entity_key for node in listed])
        found = await in_turns(
            lambda one: one[1][0].entity_key if len(one[1]) == 1 else self._error(*one, nearest, short),
            candidates.items(),
        )
        return dict(zip(candidates, found, strict=True))

    async def candidates(
        self, user_id: str, references: Iterable[str], labels: Collection[str] | None = None
    ) -> dict[str, tuple[ReferencedNode, ...]]:
        """Find all nodes that each reference may mean, at most 11; a node with exactly that key is the only one.

        Raises:
            StoreError: the database failed.
        """
        asked = list(dict.fromkeys(references))
        read = dict(zip(asked, await in_turns(ReferenceForms.of, asked), strict=True))
        forms = {reference: form for reference, form in read.items() if form is not None}
        if not forms:
            return dict.fromkeys(read, ())
        wanted = None if labels is None else frozenset(labels)
        found = await self._find(user_id, list(forms.values()), wanted)
        meant = dict(zip(forms, map(tuple, await in_turns(found.meant_by, forms.values())), strict=True))
        unnamed = {reference: form for reference, form in forms.items() if form.may_be_name and not meant[reference]}
        meant |= await self._called(user_id, unnamed, wanted)
        meant |= await self._labelled(user_id, [reference for reference in forms if not meant[reference]], labels)
        return {reference: meant.get(reference, ()) for reference in read}

    async def _labelled(
        self, user_id: str, references: Iterable[str], labels: Collection[str] | None
    ) -> dict[str, tuple[ReferencedNode, ...]]:
        """The nodes that references in the form "Varnish (Concept)" mean, as texts show a node without its key."""
        parts = {reference: name_and_label(reference) for reference in references}
        known = {reference: part for reference, part in parts.items() if part and part[1] in self._ontology.labels}
        if not known:
            return {}
        found = await self.candidates(user_id, [name for name, _ in known.values()], labels)
        return {
            reference: tuple(node for node in found[name] if node.label == label)
            for reference, (name, label) in known.items()
        }

    async def nearest(
        self, user_id: str, references: Sequence[str], labels: Collection[str] | None = None
    ) -> dict[str, list[str]]:
        """List the nodes with the nearest names, by reference and at most 5 each; for the first 20 references.

        Raises:
            StoreError: the database failed.
        """
        forms = {reference: ReferenceForms.of(reference) for reference in references[:MAX_EXPLAINED]}
        names = {
            reference: form.name
            for reference, form in forms.items()
            if form is not None and form.may_be_name and not form.is_owner
        }
        queries = [
            (reference, {"text": query} | of_alias)
            for field, of_alias in (("name", {}), ("notes_text", {"of_alias": True}))
            for reference, name in names.items()
            if (query := similar_name_query(name, user_id, field, two_changed=NEAREST_TWO_CHANGED)) is not None
        ]
        if not queries:
            return {}
        rows = await self._store.read(
            statement("find_similar_names"),
            {
                "user_id": user_id,
                "queries": [
                    {"position": position, "label": None, **query} for position, (_, query) in enumerate(queries)
                ],
                **{"excluded": [], "index": NODE_TEXT_INDEX, "fetch": WINDOW, "limit": MAX_COMPARED},
            },
        )
        wanted = None if labels is None else frozenset(labels)
        found: dict[str, list[ReferencedNode]] = {}

        def near(row: Row) -> list[ReferencedNode]:
            nodes = read_nodes([row], self._ontology, wanted)
            return [one for one in nodes if is_near(queries[row["position"]][0], (one.name, *one.aliases))]

        ordered = sorted(rows, key=lambda row: row["position"])
        for row, close in zip(ordered, await in_turns(near, ordered), strict=True):
            nodes = found.setdefault(queries[row["position"]][0], [])
            nodes += [one for one in close if one not in nodes]
        found = {reference: nodes[:MAX_NEAREST] for reference, nodes in found.items()}
        short = await self.short_keys(user_id, [node.entity_key for nodes in found.values() for node in nodes])
        return {
            reference: [node.listed(short[node.entity_key]) for node in nodes]
            for reference, nodes in found.items()
            if nodes
        }

    async def owner(self, user_id: str) -> ReferencedNode | None:
        """Find the node that stands for the user (`is_owner`); None if there is none, or more than one.

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
        [row] = await self._store.read(self._owners, {"user_id": user_id})
        return list(read_nodes(row["nodes"], self._ontology, None))

    async def short_keys(self, user_id: str, keys: Iterable[str]) -> dict[str, str]:
        """Shorten keys to their first characters, at least 8, by which the user has no other node.

        Raises:
            StoreError: the database failed.
        """
        pending = list(dict.fromkeys(keys))
        short = {key: key for key in pending}
        for length in PREFIX_LENGTHS:
            pending = [key for key in pending if len(key) > length]
            if not pending:
                break
            rows = await self._store.read(
                statement("find_similar_keys", **self._names),
                {"user_id": user_id, "asked": {"keys": pending}, "length": length, "most": MAX_SIMILAR_KEYS},
            )
            clear = {row["key"]: row["others"] for row in rows if len(row["others"]) < MAX_SIMILAR_KEYS}
            short |= {key: shortest_unique(key, others, length) for key, others in clear.items()}
            pending = [key for key in pending if key not in clear]
        return short

    async def _called(
        self, user_id: str, forms: Mapping[str, ReferenceForms], labels: frozenset[str] | None, *, scan: bool = True
    ) -> dict[str, tuple[ReferencedNode, ...]]:
        """The nodes with other names that references may be, at most 11 each; without `scan` not of common words."""
        if not forms:
            return {}
        rows = await self._store.read(
            statement("find_aliases"),
            {
                "user_id": user_id,
                "queries": await in_turns(lambda form: alias_query(form.written, user_id), forms.values()),
                **{"index": NODE_TEXT_INDEX, "window": WINDOW},
            },
        )
        found = {reference: row["nodes"] for reference, row in zip(forms, rows, strict=True)}
        common = [reference for reference, row in zip(forms, rows, strict=True) if row["hits"] >= WINDOW]
        if common and scan:
            scanned = await self._store.read(
                statement("scan_aliases", **self._names),
                {"user_id": user_id, "names": list({name for one in common for name in forms[one].lower_case})},
            )
            found |= {reference: [row["node"] for row in scanned] for reference in common}
        nodes = {reference: read_nodes(rows, self._ontology, labels) for reference, rows in found.items()}
        called = await in_turns(lambda one: [node for node in one[1] if node.is_called(one[0])], nodes.items())
        return {
            reference: tuple(sorted(meant, key=in_order)[: MAX_LISTED + 1])
            for reference, meant in zip(nodes, called, strict=True)
        }

    async def _find(
        self,
        user_id: str,
        forms: Sequence[ReferenceForms],
        labels: frozenset[str] | None,
    ) -> FoundNodes:
        folded = {form.folded: form for form in forms if form.may_be_name}
        indexed = folded if len(folded) <= MAX_INDEXED_NAMES else {}
        [row] = await self._store.read(
            self._resolve,
            {
                "user_id": user_id,
                # The database would plan the statement again for other lengths of lists that are parameters themselves.
                "asked": {
                    "keys": list(dict.fromkeys(key for form in forms for key in form.keys)),
                    "prefixes": list(dict.fromkeys(prefix for form in forms for prefix in form.prefixes)),
                    "owners": [True] if any(form.is_owner for form in forms) else [],
                    "names": await in_turns(lambda form: compared_name(form, user_id), indexed.values()),
                },
                **{"index": NODE_TEXT_INDEX, "window": WINDOW, "most": MAX_LISTED + 1},
            },
        )
        named = {item["folded"]: item["nodes"] for item in row["by_name"] if item["nodes"] or item["hits"] < WINDOW}
        if unread := [name for name in folded if name not in named]:
            scanned = await self._store.read(
                statement("scan_names", **self._names),
                {"user_id": user_id, "folded": unread, "most": MAX_LISTED + 1},
            )
            named |= {item["folded"]: item["nodes"] for item in scanned}
        return FoundNodes(row, named, self._ontology, labels)

    def _error(
        self,
        reference: str,
        nodes: Sequence[ReferencedNode],
        nearest: Mapping[str, Sequence[str]],
        short: Mapping[str, str],
    ) -> InputError:
        shown = _shown(reference)
        if nodes:
            count = f"more than {MAX_LISTED}" if len(nodes) > MAX_LISTED else str(len(nodes))
            # A name can look like the beginning of another node's key.
            listed = "; ".join(
                node.listed(node.entity_key if short[node.entity_key] == reference.strip() else short[node.entity_key])
                for node in nodes[:MAX_LISTED]
            )
            return InputError(f"{shown} could refer to {count} nodes; give the key of one: {listed}")
        hint = f"Nearest to {shown}: {'; '.join(nearest[reference])}" if reference in nearest else ""
        forms = ReferenceForms.of(reference)
        if not hint and is_short_key(reference):
            hint = f"Keys need at least {MIN_PREFIX} characters"
        if forms is not None and forms.is_owner:
            hint = "No node is marked as the owner of this graph: first set `is_owner` to true on that person's node"
        return NodeNotFoundError(f"Node not found: {shown}", hint)


def _not_compared(reference: str) -> NodeNotFoundError:
    """The error for an unknown name beyond those of a call that are compared with parts of names."""
    hint = (
        f"Give the full name or the key: only the first {MAX_LOOSE} unknown names of a call are compared with parts of "
        "names"
    )
    return NodeNotFoundError(f"Node not found: {_shown(reference)}", hint)


def _shown(reference: str) -> str:
    """A reference in an error."""
    text = shorten_name(reference)
    return text if text.isprintable() else repr(text)
