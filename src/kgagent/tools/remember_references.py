"""What the references of a call of remember mean: nodes of the call, or nodes of the graph."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.graph.reference_forms import OWNER_WORDS, is_too_long, loose_name
from kgagent.graph.referenced_nodes import FoundNodes
from kgagent.ontology import Ontology
from kgagent.plain_names import contains_words, normalised_name, plain_text
from kgagent.tools.arguments import NewNote
from kgagent.tools.context import ToolContext
from kgagent.tools.remember_arguments import RememberedNode, RememberedNote, RememberedRelationship
from kgagent.tools.remember_targets import Target, Targets
from kgagent.turns import in_turns

MAX_LISTED = 3
"""Number of nodes of the call that an error lists."""

PLACE_WORDS = frozenset({"at", "in", "inside", "into", "near", "within"})
"""Last words of relationship types whose second node is rather a place than a person: "lives in"."""

FEELINGS = frozenset({"believe", "believed", "believes", "confided", "confides", "interested", "mad", "trusts"})
"""First words of types that end in such a word, but lead to a person: "confides in"."""


@dataclass
class References:
    """What the references of a call mean: a `ref` or name of one of its nodes, or a node of the graph.

    Attributes:
        local: keys by ref, and by name or alias as compared.
        shared: names of several nodes of the call, with the positions of the nodes; they mean no node.
        shared_aliases: the same for aliases; they mean a node of the graph with that name.
        compared: the references as they are compared with names.
        broken: the refs and names of nodes that cannot be written, with their positions.
        repeated: refs that the call gives to several nodes.
        owner: key of the node that the call marks as the owner.
        stored: keys of nodes of the graph, or the error.
        notices: which nodes those references mean that are not exactly a name.
    """

    local: dict[str, str] = field(default_factory=dict)
    shared: dict[str, Sequence[int]] = field(default_factory=dict)
    shared_aliases: dict[str, Sequence[int]] = field(default_factory=dict)
    compared: dict[str, str] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)
    repeated: frozenset[str] = frozenset()
    owner: str | None = None
    stored: dict[str, str | InputError] = field(default_factory=dict)
    notices: dict[str, str] = field(default_factory=dict)

    @classmethod
    async def of(
        cls,
        context: ToolContext,
        found: FoundNodes,
        items: Mapping[int, RememberedNode],
        targets: Targets,
        references: Iterable[str],
        *,
        rejected: Mapping[str, int] = MappingProxyType({}),
        not_people: Collection[str] = (),
    ) -> "References":
        """Resolve references.

        Args:
            context: the user's graph.
            found: what was found for the references.
            items: the nodes of the call.
            targets: what they describe.
            references: what to resolve.
            rejected: refs and names of invalid nodes of the call, with the positions of the nodes; no node with a
                similar name stands for them.
            not_people: references that are no part of the name of a person.
        """
        # Nothing refers to a name that is too long, and comparing it would take long.
        too_long = await in_turns(is_too_long, rejected)
        named = [name for name, is_long in zip(rejected, too_long, strict=True) if not is_long]
        self = cls()
        names = await self._read_call(items, targets)
        for name, compared in zip(named, await in_turns(normalised_name, named), strict=True):
            self.broken.setdefault(name, rejected[name])
            self.broken.setdefault(compared, rejected[name])
        # "me" is the owner of the graph, whatever a node of the call is called; without an owner, it is that node.
        own_words = OWNER_WORDS.difference(item.ref for item in items.values())
        self_named = {word: self.local.pop(word) for word in own_words if word in self.local}
        for word in own_words:
            self.shared.pop(word, None)
            self.shared_aliases.pop(word, None)
        asked = [one for one in dict.fromkeys(references) if one not in self.repeated]
        self.compared = dict(zip(asked, await in_turns(normalised_name, asked), strict=True))
        others = [one for one in asked if self._in_call(one) is None and self.compared[one] not in self.shared]
        if others:
            names_of_call = {*await in_turns(normalised_name, (*self.broken, *names)), *self.shared_aliases}
            resolved = await context.references.resolve_loosely(
                context.user_id, others, exactly=names_of_call, whole=not_people, found=found
            )
            self.stored, self.notices = dict(resolved.keys), dict(resolved.notices)
            for reference in others:
                if isinstance(self.stored[reference], InputError) and self.compared[reference] in self_named:
                    self.stored[reference] = self_named[self.compared[reference]]
            await self._compare_without_accents(items, targets)
            await self._compare_with_call(_people(context.ontology, items, targets, named), not_people)
            self.notices |= resolved.shared
        return self

    async def _read_call(self, items: Mapping[int, RememberedNode], targets: Targets) -> Collection[str]:
        """Collect what refers to the nodes of the call, and return the refs, names and keys of those to be written."""
        names: dict[str, set[str]] = {}
        refs: dict[str, set[str]] = {}
        called: dict[str, dict[str, int]] = {}
        aliases: dict[str, dict[str, int]] = {}
        own_names = await in_turns(lambda item: item.name and normalised_name(item.name), items.values())
        for (position, item), own in zip(items.items(), own_names, strict=True):
            target = targets[position]
            for reference in filter(None, (item.ref, own, item.entity_key)):
                if isinstance(target, Target):
                    names.setdefault(reference, set()).add(target.entity_key)
                else:
                    self.broken.setdefault(reference, position)
            if not isinstance(target, Target):
                continue
            if item.is_owner:
                self.owner = self.owner or target.entity_key
            if own:
                called.setdefault(own, {}).setdefault(target.entity_key, position)
            if item.ref is not None:
                refs.setdefault(item.ref, set()).add(target.entity_key)
            for alias in await in_turns(normalised_name, item.aliases):
                aliases.setdefault(alias, {}).setdefault(target.entity_key, position)
        found: dict[str, Collection[str]] = {**aliases, **names, **refs}
        self.local = {name: next(iter(keys)) for name, keys in found.items() if len(keys) == 1}
        self.shared = {name: [*keys.values()] for name, keys in called.items() if len(keys) > 1}
        self.shared_aliases = {name: [*keys.values()] for name, keys in aliases.items() if len(keys) > 1}
        self.repeated = frozenset(ref for ref, keys in refs.items() if len(keys) > 1)
        return names

    def key(self, reference: str) -> str:
        """The key of the node that a reference means.

        Raises:
            InputError: it means none, or several.
        """
        if reference in self.repeated:
            raise InputError(f"Several nodes in this call have the ref {reference!r}; give each node its own")
        compared = self.compared[reference]
        key = self._in_call(reference) or self.stored.get(reference)
        if isinstance(key, str):
            return key
        positions = self.shared.get(compared)
        if positions is None and isinstance(key, NodeNotFoundError):
            positions = self.shared_aliases.get(compared)
        if key is None or positions:
            raise _shared_name(reference, positions or ())
        position = self.broken.get(reference, self.broken.get(compared))
        if position is not None:
            raise InputError(f"{reference!r} is nodes[{position}], which was not written")
        if isinstance(key, NodeNotFoundError) and not key.hint:
            raise NodeNotFoundError(key.problem, "Add it to nodes to create it")
        raise key

    async def _compare_without_accents(self, items: Mapping[int, RememberedNode], targets: Targets) -> None:
        """Let a reference to no node of the graph mean the node of the call whose name has other accents."""
        unknown = [
            reference
            for reference, found in self.stored.items()
            if isinstance(found, NodeNotFoundError)
            and self.compared[reference] not in self.shared_aliases
            and loose_name(reference) is not None
        ]
        if not unknown:
            return
        written = [(items[position], target) for position, target in targets.items() if isinstance(target, Target)]
        named = [(name, target) for item, target in written for name in (item.name, *item.aliases) if name]
        plain: dict[str, dict[str, str]] = {}
        for (name, target), form in zip(named, await in_turns(plain_text, [name for name, _ in named]), strict=True):
            plain.setdefault(form, {}).setdefault(target.entity_key, name)
        for reference, form in zip(unknown, await in_turns(plain_text, unknown), strict=True):
            if len(found := plain.get(form, {})) == 1:
                [(key, name)] = found.items()
                self.stored[reference], self.notices[reference] = key, f"{reference} → {name}"

    async def _compare_with_call(self, people: Mapping[str, str | None], not_people: Collection[str]) -> None:
        """Let a part of the name of a person of this call mean that person, unless a stored one may be meant.

        Args:
            people: keys of the people of the call by name; None for one that cannot be written.
            not_people: references that are no part of the name of a person.
        """
        compared = [
            reference
            for reference, found in self.stored.items()
            if reference not in not_people
            and self.compared[reference] not in self.shared_aliases
            and (isinstance(found, NodeNotFoundError) or (isinstance(found, str) and reference in self.notices))
        ]
        plain = dict(zip(people, await in_turns(plain_text, people), strict=True))
        parts = await in_turns(loose_name, compared)
        matching = await in_turns(
            lambda part: [name for name in people if part and contains_words(plain[name], part)], parts
        )
        for reference, names in zip(compared, matching, strict=True):
            found = self.stored[reference]
            if not names:
                continue
            meant = {people[name] for name in names} | ({found} if isinstance(found, str) else set())
            key = next(iter(meant))
            notice = self.notices.pop(reference, None)
            if len(meant) == 1 and key is not None:
                self.stored[reference] = key
                self.notices[reference] = notice or f"{reference} → {names[0]}"
            else:
                self.stored[reference] = InputError(
                    f"{reference!r} could refer to {' or '.join(map(repr, names))} in this call; give a full name, "
                    "or the key of a stored node"
                )

    def _in_call(self, reference: str) -> str | None:
        compared = self.compared[reference]
        if self.owner is not None and compared in OWNER_WORDS:
            return self.owner
        return self.local.get(reference) or self.local.get(compared)


def _shared_name(reference: str, positions: Sequence[int]) -> InputError:
    shown = [f"nodes[{position}]" for position in positions[:MAX_LISTED]]
    more = f" and {len(positions) - MAX_LISTED} more" if len(positions) > MAX_LISTED else ""
    return InputError(
        f"{reference!r} is a name of {', '.join(shown)}{more}; use the ref or the key of the node that is meant"
    )


def _people(
    ontology: Ontology, items: Mapping[int, RememberedNode], targets: Targets, rejected: Iterable[str]
) -> dict[str, str | None]:
    """The keys of the people of a call by name; None for those that cannot be written."""
    people: dict[str, str | None] = dict.fromkeys(rejected)
    for position, item in items.items():
        target = targets[position]
        if item.name is None:
            continue
        if not isinstance(target, Target):
            people[item.name] = None
        elif item.label in {None, ontology.owner_label}:
            people[item.name] = target.entity_key
    return people


def not_people_in(relationships: Iterable[RememberedRelationship], ontology: Ontology) -> set[str]:
    """References that mean no person by a part of the name: where one lives, and the nodes of a type without people."""
    found: set[str] = set()
    for relationship in relationships:
        words = (relationship.relationship_type or "").casefold().split()
        definition = ontology.relationships.get(relationship.neo4j_type or "")
        leads_to_person = definition is not None and definition.to_label == ontology.owner_label
        if not leads_to_person and words and words[-1] in PLACE_WORDS and words[0] not in FEELINGS:
            found.add(relationship.to)
        if definition is not None and ontology.owner_label not in {definition.from_label, definition.to_label}:
            found |= {relationship.from_, relationship.to}
    return found


async def unknown_in_call(
    references: Iterable[str], items: Iterable[RememberedNode], rejected: Iterable[str]
) -> list[str]:
    """The references that are no ref, name or alias of a node of the call."""
    names = [name for item in items for name in (item.ref, item.name, *item.aliases) if name]
    own = {*names, *await in_turns(normalised_name, names), *rejected}
    asked = list(dict.fromkeys(references))
    compared = await in_turns(normalised_name, asked)
    return [reference for reference, name in zip(asked, compared, strict=True) if own.isdisjoint((reference, name))]


def references_in(
    relationships: Iterable[RememberedRelationship], notes: Iterable[RememberedNote], nodes: Iterable[RememberedNode]
) -> list[str]:
    """All references of a call to nodes, in the order in which they occur."""
    found: list[str] = []
    added: list[NewNote | str] = [note for node in nodes for note in node.notes]
    for relationship in relationships:
        found += [relationship.from_, relationship.to]
        added += relationship.notes
    for note in notes:
        found += ends(note)
        added.append(note)
    found += [note.source_entity_key for note in added if isinstance(note, NewNote) and note.source_entity_key]
    return found


def ends(note: RememberedNote) -> list[str]:
    """The node of a note, or the two nodes of its relationship."""
    return [note.on] if isinstance(note.on, str) else note.on
