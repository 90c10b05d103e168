"""The one resolver of references: which node a key, the first characters of a key, a name, another
name or "me" means.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.formatting import MAX_LISTED, beginning
from kgagent.graph.identifiers import Identifier
from kgagent.graph.pair_state import End
from kgagent.graph.reference_forms import (
    MIN_PREFIX,
    ReferenceForms,
    is_short_key,
    loose_name,
    message_key,
    name_and_label,
    similar_name_query,
)
from kgagent.graph.schema_parts import NODE_TEXT_INDEX
from kgagent.graph.statements import statement
from kgagent.graph.store import Row, Store
from kgagent.names import contains_words, is_near, normalised_name, plain_text, shorten_name
from kgagent.ontology import Ontology
from kgagent.trust import OWN, Trust, read_trust

NEAREST_TWO_CHANGED = 6
"""Minimum number of letters of a word of which two may be wrong in the nearest name: "Sophia",
"Sofia".
"""

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

MAX_DESCRIPTION = 60


class _Named:
    """What has a name and other names."""

    name: str
    aliases: Sequence[str]

    def is_named(self, name: str) -> bool:
        """Whether a text is its name."""
        return normalised_name(name) == normalised_name(self.name)

    def has_alias(self, name: str) -> bool:
        """Whether a text is one of its other names."""
        return normalised_name(name) in map(normalised_name, self.aliases)

    def is_called(self, name: str) -> bool:
        """Whether a text is its name, or one of its other names."""
        return self.is_named(name) or self.has_alias(name)


@dataclass(frozen=True, kw_only=True)
class ReferencedNode(End, _Named):
    """A node that a reference may mean.

    Attributes:
        labels: all of its labels.
        description: the first 200 characters of it.
        aliases: its other names.
        trust: class of its words.
        owner: whose it is; None: the user's.
    """

    labels: frozenset[str]
    description: str
    aliases: tuple[str, ...] = ()
    trust: Trust = OWN
    owner: str | None = None

    def listed(self, short_key: str) -> str:
        """The node in a list, such as "Ruth Calder (Person, 5b0c1a2f): Naval architect in
        Bergen".
        """
        description = beginning(self.description, MAX_DESCRIPTION)
        owner = f", {shorten_name(self.owner)}" if self.owner else ""
        shown = f"{shorten_name(self.name)} ({self.label}, {short_key}{owner})"
        return f"{shown}: {description}" if description else shown


@dataclass(frozen=True, kw_only=True)
class CallNode(_Named):
    """A node of the call itself, to which the call's references may refer.

    Attributes:
        place: where the call gives it, such as "nodes[2]".
        entity_key: its key; None if it cannot be written.
        ref: the name that only this call has for it.
        aliases: its other names.
        is_owner: whether the call marks it as the owner of the graph.
        has_parts: whether a part of its name means it, as it does for people.
    """

    place: str
    entity_key: str | None
    name: str = ""
    ref: str | None = None
    aliases: tuple[str, ...] = ()
    is_owner: bool = False
    has_parts: bool = True

    @cached_property
    def plain_names(self) -> Sequence[str]:
        """Its name and other names in plain form."""
        return [plain_text(name) for name in (self.name, *self.aliases)]

    def is_similar(self, plain: str) -> bool:
        """Whether the plain text of a reference is a name of it without accents, or a part of its
        name.
        """
        is_part = self.has_parts and contains_words(self.plain_names[0], plain)
        return is_part or plain in self.plain_names


@dataclass
class References:
    """What the references of one call mean. `Resolver.find` makes it; it sends no statement itself.

    A reference means, in this order: a node of the call, by its `ref`, name or other name; a node
    of the graph, by its key, as the owner, by its name or the first characters of its key, or by
    another name; and if there is none, the only node that has the name without accents, or is a
    person with the reference as words of the name.

    Attributes:
        ontology: has the words for the owner.
        advice: what an error about a reference to no node says to do if no name is near.
        owners: the nodes that stand for the user, if they were asked for.
        by_key: all nodes that were found.
        by_prefix: nodes by the first characters of their keys.
        by_name: nodes by their names and other names, in plain form.
        people: people of whose names the name of a new node is a part, by its plain form.
        loose: for each reference to no node, the only node that it means loosely.
        of_call: the nodes of the call.
        nearest: for each reference to no node, the keys of nodes with the nearest names, and how
            they are listed.
    """

    ontology: Ontology
    advice: str = ""
    owners: list[ReferencedNode] = field(default_factory=list)
    by_key: dict[str, ReferencedNode] = field(default_factory=dict)
    by_prefix: dict[str, list[ReferencedNode]] = field(default_factory=dict)
    by_name: dict[str, list[ReferencedNode]] = field(default_factory=dict)
    people: dict[str, list[ReferencedNode]] = field(default_factory=dict)
    loose: dict[str, ReferencedNode] = field(default_factory=dict)
    nearest: dict[str, dict[str, str]] = field(default_factory=dict)
    of_call: list[CallNode] = field(default_factory=list)
    _refs: dict[str, list[CallNode]] = field(default_factory=dict)
    _names: dict[str, list[CallNode]] = field(default_factory=dict)
    _aliases: dict[str, list[CallNode]] = field(default_factory=dict)

    def add(self, node: CallNode) -> None:
        """Add a node of the call."""
        self.of_call.append(node)
        if node.ref:
            for form in {node.ref, normalised_name(node.ref)}:
                self._refs.setdefault(form, []).append(node)
        self._names.setdefault(normalised_name(node.name), []).append(node)
        for alias in dict.fromkeys(map(normalised_name, node.aliases)):
            self._aliases.setdefault(alias, []).append(node)

    @property
    def marked_owner(self) -> CallNode | None:
        """The first node that the call marks as the owner of the graph."""
        return next((node for node in self.of_call if node.is_owner and node.entity_key), None)

    def key(self, reference: str, label: str | None = None) -> str:
        """The key of the node that a reference means.

        Args:
            reference: one of those that were given to `Resolver.find`, or a name of a node of the
                call.
            label: a label that the node must have; None for any.

        Raises:
            NodeNotFoundError: it means none; the text lists the nodes with the nearest names.
            InputError: it means several, which the text lists, or one that is not written.
        """
        meant = self._meant(reference, label)
        keys = {node.entity_key for node in meant}
        if len(keys) == 1 and (key := keys.pop()) is not None:
            return key
        raise self._error(reference, meant)

    def outcome(self, reference: str) -> str | InputError:
        """The key of the node that a reference means, or the error of `key`."""
        try:
            return self.key(reference)
        except InputError as error:
            return error

    def one_node(self, reference: str) -> ReferencedNode | None:
        """The node of the graph that a reference means; None if it means none, or several."""
        meant = self._meant(reference)
        node = meant[0] if len(meant) == 1 else None
        return node if isinstance(node, ReferencedNode) else None

    def key_or_text(self, reference: str) -> str:
        """The key of the node that a reference means; the reference itself if it means none.

        Raises:
            InputError: it means several.
        """
        try:
            return self.key(reference)
        except NodeNotFoundError:
            return reference

    def nodes(self, reference: str, label: str | None = None) -> Sequence[ReferencedNode]:
        """The nodes of the graph that a reference means exactly, at most 11, in the order of label
        and key.
        """
        forms = ReferenceForms.of(reference)
        if forms and (meant := self._exactly(forms, label)):
            return meant
        if (part := name_and_label(reference)) and (forms := ReferenceForms.of(part[0])):
            return [node for node in self._exactly(forms, label) if node.label == part[1]]
        return []

    def notices(self, references: Iterable[str]) -> list[str]:
        """Which nodes references mean that are not exactly names: "Anna → Anna Berger (Person,
        5b0c1a2f-11a)".
        """
        told = map(self._notice, dict.fromkeys(references))
        return [notice for notice in told if notice]

    def namesakes(self, name: str) -> str:
        """The people of whose names a name is a part: "there are Victor Hale (5b0c1a2f-11a) and
        Victor Moss (0f3d2a77-9c1)".
        """
        people = self.people.get(plain_text(name), [])
        listed = sorted(f"{shorten_name(n.name)} ({message_key(n.entity_key)})" for n in people)
        *others, last = listed or [""]
        if not others:
            return f"there is {last}" if last else ""
        return f"there are {', '.join(others)} and {last}"

    def hint(self, references: Iterable[str]) -> str:
        """The nodes with the nearest names of references that mean no node."""
        errors = (self.outcome(reference) for reference in references)
        hints = (error.hint for error in errors if isinstance(error, NodeNotFoundError))
        return ". ".join(filter(None, dict.fromkeys(hints)))

    def node(self, key: str) -> ReferencedNode | None:
        """The node of the graph with a key, if it is among those that were found."""
        return self.by_key.get(key)

    def with_owner(self, text: str) -> str:
        """A text about records with the name of the owner instead of "me"."""
        owner = self.marked_owner or next(iter(self.owners), None)
        if owner is None or not owner.name:
            return text
        words = text.split()
        is_owner = [normalised_name(word) in self.ontology.owner_words for word in words]
        return " ".join(
            owner.name if means else word for word, means in zip(words, is_owner, strict=True)
        )

    def _meant(
        self, reference: str, label: str | None = None
    ) -> Sequence[ReferencedNode | CallNode]:
        name = normalised_name(reference)
        is_owner = name in self.ontology.owner_words
        if is_owner and self.marked_owner is not None:
            return [self.marked_owner]
        if by_ref := self._refs.get(reference) or self._refs.get(name):
            return by_ref
        called = self._names.get(name) or self._aliases.get(name, [])
        written = [node for node in called if node.entity_key]
        if written and not is_owner:
            return written
        return self.nodes(reference, label) or written or called or self._loosely(reference, label)

    def _exactly(self, forms: ReferenceForms, label: str | None) -> list[ReferencedNode]:
        key, *inner_keys = forms.keys

        def labelled(nodes: Iterable[ReferencedNode]) -> list[ReferencedNode]:
            kept = [node for node in nodes if label is None or label in node.labels]
            # The user's own come before those of others that the user can read.
            return [node for node in kept if node.owner is None] or kept

        if keyed := labelled(filter(None, [self.by_key.get(key)])):
            return keyed
        if forms.name in self.ontology.owner_words and (owners := labelled(self.owners)):
            return owners
        alike = labelled(self.by_name.get(forms.plain, ()))
        named = [node for node in alike if node.is_named(forms.written)]
        begin = labelled(self.by_prefix.get(key, ()))
        if not named and not begin:
            for inner in inner_keys:
                stored = self.by_key.get(inner)
                begin += labelled([stored] if stored else self.by_prefix.get(inner, ()))
        meant = [*named, *begin] or [node for node in alike if node.has_alias(forms.written)]
        distinct = {node.entity_key: node for node in meant}.values()
        return sorted(distinct, key=lambda node: (node.label, node.entity_key))

    def _loosely(self, reference: str, label: str | None) -> list[ReferencedNode | CallNode]:
        plain, stored = loose_name(reference, self.ontology), self.loose.get(reference)
        similar = [node for node in self.of_call if plain and node.is_similar(plain)]
        known = {node.entity_key for node in similar}
        is_other = stored and stored.entity_key not in known
        is_wanted = stored and (label is None or label in stored.labels)
        return [*([stored] if stored and is_other and is_wanted else []), *similar]

    def _notice(self, reference: str) -> str:
        meant = self._meant(reference)
        if len(meant) != 1 or meant[0].entity_key is None:
            return ""
        [node] = meant
        shown = f"{_shown(reference)} → {shorten_name(node.name)}"
        if isinstance(node, CallNode):
            name = normalised_name(reference)
            is_exact = name in self._names or name in self._aliases or name in self._refs
            return "" if is_exact or node.is_owner else shown
        if reference not in self.loose and not node.has_alias(reference):
            return ""
        return f"{shown} ({node.label}, {message_key(node.entity_key)})"

    def _error(self, reference: str, meant: Sequence[ReferencedNode | CallNode]) -> InputError:
        """The error for a reference to several nodes, to one that is not written, or to none."""
        shown = _shown(reference)
        if not meant:
            near = self.nearest.get(reference)
            hint = f"Nearest to {shown}: {'; '.join(near.values())}" if near else self.advice
            if not near and is_short_key(reference):
                hint = f"Keys need at least {MIN_PREFIX} characters"
            if normalised_name(reference) in self.ontology.owner_words:
                hint = (
                    "No node is marked as the owner of this graph: first set `is_owner` to true on "
                    "that person's node"
                )
            return NodeNotFoundError(f"Node not found: {shown}", hint)
        if len(meant) == 1 and isinstance(failed := meant[0], CallNode):
            return InputError(f"{reference!r} is {failed.place}, which was not written")
        stored = [node for node in meant if isinstance(node, ReferencedNode)]
        listed = [
            f"{node.place} ({shorten_name(node.name)})"
            if isinstance(node, CallNode)
            else node.listed(_distinct_key(node, stored, reference))
            for node in meant[:MAX_LISTED]
        ]
        count = f"more than {MAX_LISTED}" if len(meant) > MAX_LISTED else str(len(meant))
        give = "the key of one" if len(stored) == len(meant) else "the ref or key of one"
        return InputError(f"{shown} could refer to {count} nodes; give {give}: {'; '.join(listed)}")


class Resolver:
    """Finds the nodes of a user that references may mean; each call names the owner.

    A reference is the `entity_key` of a node, at least 8 of its first characters, or its name,
    ignoring differences that make no other name; if no node has that name, one of its `aliases`.
    The ontology's words for the owner ("me") mean the owner of the graph (`is_owner`) if there is
    one, even if another node has that name.
    """

    def __init__(self, store: Store, ontology: Ontology) -> None:
        self._store = store
        self._ontology = ontology
        labels = Identifier.any_of(ontology.labels)
        owner = ontology.owner_label
        owners = labels if owner is None else Identifier(owner)
        self._resolve = statement("resolve_references", labels=labels, owner=owners)
        self._compare = statement("find_loose_names", labels=labels, owner=owners)

    async def find(
        self,
        user_id: str,
        references: Iterable[str] = (),
        *,
        names: Sequence[str] = (),
        keys: Iterable[str] = (),
        with_owners: bool = False,
        loosely: bool = True,
    ) -> References:
        """Find all nodes that the references of a call may mean.

        One statement, or two if the index is full of a name; one or two more for references to no
        node, which look for similar names.

        Args:
            user_id: owner of the nodes.
            references: entity keys, beginnings of entity keys, names, "me".
            names: further references, which mean a node only exactly, and of which no similar name
                is looked for: those that the call writes.
            keys: further keys.
            with_owners: whether the owners are read even if no reference means them.
            loosely: whether a reference may lack accents, or be a part of the name of a person.

        Raises:
            StoreError: the database failed.
        """
        asked = list(dict.fromkeys(references))
        found = References(self._ontology)
        await self._look_up(user_id, found, asked, names, keys, with_owners=with_owners)
        unknown = [text for text in asked if not found.nodes(text)]
        if loosely:
            await self._find_loosely(user_id, found, unknown)
        await self._find_nearest(user_id, found, unknown)
        return found

    async def owner(self, user_id: str) -> ReferencedNode | None:
        """Find the node that stands for the user (`is_owner`); None if there is none, or more than
        one.

        Raises:
            StoreError: the database failed.
        """
        owners = await self.owners(user_id)
        return owners[0] if len(owners) == 1 else None

    async def owners(self, user_id: str) -> Sequence[ReferencedNode]:
        """Find the nodes that stand for the user; tools allow only one.

        Raises:
            StoreError: the database failed.
        """
        return (await self.find(user_id, with_owners=True)).owners

    async def _look_up(
        self,
        user_id: str,
        found: References,
        asked: Sequence[str],
        exact: Sequence[str],
        keys: Iterable[str],
        *,
        with_owners: bool,
    ) -> None:
        texts = [*asked, *exact]
        parts = (name_and_label(text) for text in texts)
        inner = [part[0] for part in parts if part and part[1] in self._ontology.labels]
        forms = [form for text in (*texts, *inner) if (form := ReferenceForms.of(text))]
        names = {form.name: form for form in forms if form.may_be_name}
        has_people = self._ontology.owner_label is not None
        is_indexed = len(names) <= MAX_INDEXED_NAMES
        is_owner = any(form.name in self._ontology.owner_words for form in forms)
        owners = self._store.owners(user_id)
        wanted: dict[str, list[Any]] = {
            "keys": list(dict.fromkeys((*(key for form in forms for key in form.keys), *keys))),
            "prefixes": list(dict.fromkeys(prefix for form in forms for prefix in form.prefixes)),
            "owners": [True] if with_owners or is_owner else [],
            "names": [
                {**form.name_parameters(owners), "of_new": has_people and form.written in exact}
                for form in names.values()
                if is_indexed
            ],
            "scans": [] if is_indexed else [[form.plain for form in names.values()]],
        }
        if not any(wanted.values()):
            return
        cut = await self._ask(user_id, found, wanted)
        unread = [
            form.plain for form in forms if form.plain in cut and not found.nodes(form.written)
        ]
        if unread:
            await self._ask(user_id, found, {"scans": [unread]})

    async def _ask(
        self, user_id: str, found: References, wanted: Mapping[str, Sequence[Any]]
    ) -> set[str]:
        """Add the nodes of `resolve_references.cypher`; the names of which the index has more
        matches than were examined.
        """
        # The database would plan the statement again for other lengths of lists that are parameters
        # themselves.
        parameters = {"asked": wanted, "index": NODE_TEXT_INDEX, "window": WINDOW}
        [row] = await self._store.read(
            self._resolve, {"user_id": user_id, "most": MAX_LISTED + 1, **parameters}
        )
        found.owners += self._read(user_id, row["owners"])
        for item in row["by_prefix"]:
            found.by_prefix.setdefault(item["prefix"], []).extend(
                self._read(user_id, [item["node"]])
            )
        for item in (*row["by_name"], *row["scanned"]):
            found.by_name.setdefault(item["plain"], []).extend(self._read(user_id, item["nodes"]))
        for item in row["by_name"]:
            found.people[item["plain"]] = self._read(user_id, item["people"])
        listed = (*found.by_prefix.values(), *found.by_name.values(), found.owners)
        nodes = (*self._read(user_id, row["by_key"]), *(node for nodes in listed for node in nodes))
        found.by_key |= {node.entity_key: node for node in nodes}
        return {item["plain"] for item in row["by_name"] if item["is_cut"]}

    async def _find_loosely(
        self, user_id: str, found: References, references: Sequence[str]
    ) -> None:
        """Find the nodes that only one name has without accents, or as whole words of the name of a
        person; for the first 100 references.
        """
        is_person_known = self._ontology.owner_label is not None
        wanted = [
            {"text": text, "plain": plain, "may_be_part": is_person_known}
            for text in references
            if (plain := loose_name(text, self._ontology))
        ]
        if not wanted:
            return
        rows = await self._store.read(
            self._compare, {"user_id": user_id, "names": wanted[:MAX_LOOSE], "most": 2}
        )
        for row in rows:
            nodes = self._read(user_id, row["nodes"])
            if len(nodes) == 1:
                found.loose[row["text"]] = found.by_key[nodes[0].entity_key] = nodes[0]

    async def _find_nearest(
        self, user_id: str, found: References, references: Sequence[str]
    ) -> None:
        """List the nodes with the nearest names, at most 5 each; for the first 20 references to no
        node.
        """
        names = [text for text in references if text not in found.loose][:MAX_EXPLAINED]
        owners = self._store.owners(user_id)
        asked = [
            (name, {"text": query, "of_alias": of_alias})
            for field_name, of_alias in (("name", None), ("notes_text", True))
            for name in names
            if (plain := loose_name(name, self._ontology))
            and (
                query := similar_name_query(
                    plain, owners, field_name, two_changed=NEAREST_TWO_CHANGED
                )
            )
        ]
        if not asked:
            return
        queries = [
            {"position": position, "label": None, **query}
            for position, (_, query) in enumerate(asked)
        ]
        parameters = {"index": NODE_TEXT_INDEX, "fetch": WINDOW, "limit": MAX_COMPARED}
        rows = await self._store.read(
            statement("find_similar_names"),
            {"user_id": user_id, "queries": queries, "excluded": [], **parameters},
        )
        for row in sorted(rows, key=lambda row: row["position"]):
            name, _ = asked[row["position"]]
            for node in self._read(user_id, [row]):
                near = found.nearest.setdefault(name, {})
                if is_near(name, (node.name, *node.aliases)) and len(near) < MAX_NEAREST:
                    near[node.entity_key] = node.listed(message_key(node.entity_key))

    def _read(self, user_id: str, rows: Iterable[Row]) -> list[ReferencedNode]:
        """The nodes of rows; a node that was deleted meanwhile has no key."""
        nodes: list[ReferencedNode] = []
        for row in rows:
            labels = frozenset(row["labels"])
            known = labels & self._ontology.labels.keys()
            if known and row["entity_key"]:
                node = ReferencedNode(
                    element_id=row["element_id"],
                    entity_key=row["entity_key"],
                    label=min(known, key=lambda label: self._ontology.label_order[label]),
                    labels=labels,
                    name=row["name"] or "",
                    description=row["description"] or "",
                    aliases=tuple(row["aliases"]),
                    trust=read_trust(row["trust"]),
                    owner=None if row["user_id"] == user_id else row["user_id"],
                )
                nodes.append(node)
        return nodes


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
