"""Inferring an ontology from a graph that other programs wrote: which property is a name, and which
hold text.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from kgagent.errors import InputError
from kgagent.graph.property_names import NODE_EMBEDDINGS
from kgagent.graph.schema_parts import OWN_LABELS
from kgagent.ontology import Ontology, default_ontology
from kgagent.ontology.definitions import can_be_name
from kgagent.ontology.model import as_words

MAX_NAME = 100
"""Characters of a text that can be a name."""

MIN_NAME = 0.25
"""Least score of a property that is taken for the name: records have it, as readable, distinct,
short text.
"""

LONG_TEXT = 8
"""Mean number of words from which on a property is text of its own, whose beginning serves as a
name.
"""

MAX_TYPE_WORDS = 3
"""Words of a value that can be the free type of a relationship."""

TYPE_PROPERTIES = frozenset({"name", "type"})
"""Properties of a relationship that say what it is, if their values are short."""

CONSTANT = 3
"""Equal values from which on a property says nothing about a record."""

_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, kw_only=True)
class NodeGroup:
    """Nodes with the same labels.

    Attributes:
        labels: their labels.
        conflicts: their properties that kgagent would use for something else.
        count: number of the nodes.
    """

    labels: Sequence[str]
    conflicts: Sequence[str]
    count: int


@dataclass(frozen=True, kw_only=True)
class RelationshipGroup:
    """Relationships of one type between nodes with the same labels.

    Attributes:
        type: their type.
        starts: labels of the nodes at which they start.
        ends: labels of the nodes at which they end.
        is_loop: whether they start and end at the same node.
        conflicts: their properties that kgagent would use for something else.
        count: number of the relationships.
    """

    type: str
    starts: Sequence[str]
    ends: Sequence[str]
    is_loop: bool
    conflicts: Sequence[str]
    count: int


@dataclass(frozen=True, kw_only=True)
class Skipped:
    """Records that cannot be adopted.

    Attributes:
        what: a label, or a type.
        count: number of the records.
        why: the reason, and what to do.
        is_conflict: whether the label or type cannot be part of the ontology as long as that is so.
    """

    what: str
    count: int
    why: str
    is_conflict: bool = False

    def __str__(self) -> str:
        """One line."""
        return f"{self.what} ({self.count:,}): {self.why}"


@dataclass
class Choice:
    """The labels and types to adopt, and what is skipped.

    Attributes:
        labels: number of nodes of each label, the most specific label first.
        types: for each type, the number of its relationships by the labels that they connect.
        skipped: what is left out.
    """

    labels: dict[str, int] = field(default_factory=dict)
    types: dict[str, Counter[tuple[str, str]]] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)

    def label_of(self, labels: Iterable[str]) -> str | None:
        """The most specific of some labels that is adopted."""
        present = set(labels)
        return next((label for label in self.labels if label in present), None)


def choose(
    nodes: Sequence[NodeGroup],
    relationships: Sequence[RelationshipGroup],
    *,
    labels: Collection[str] | None = None,
    types: Collection[str] | None = None,
) -> Choice:
    """Choose what to adopt: of several labels of a node, the one that the fewest nodes have.

    Args:
        nodes: all nodes.
        relationships: all relationships.
        labels: labels to adopt; None adopts all.
        types: types to adopt; None adopts all.

    Raises:
        InputError: a label or type does not exist, or nothing can be adopted.
    """
    counts, conflicts = Counter[str](), defaultdict[str, Counter[str]](Counter)
    for group in nodes:
        for label in group.labels:
            counts[label] += group.count
            conflicts[label].update(dict.fromkeys(group.conflicts, group.count))
    _check_known("label", labels, counts)
    _check_known("type", types, {group.type for group in relationships})
    chosen = Choice()
    possible = [label for label in counts if labels is None or label in labels]
    for label in list(possible):
        if (
            problem := _name_problem(label) or _conflict(conflicts[label], f"(n:`{label}`)", "n")
        ) is not None:
            possible.remove(label)
            chosen.skipped.append(
                Skipped(what=label, count=counts[label], why=problem, is_conflict=True)
            )
    possible.sort(key=lambda label: (counts[label], label.startswith("_"), label))
    found = Counter[str]()
    for group in nodes:
        own = next((one for one in possible if one in group.labels), None)
        if own is not None:
            found[own] += group.count
    chosen.labels = {label: found[label] for label in possible if found[label]}
    if nameless := sum(group.count for group in nodes if not group.labels):
        chosen.skipped.append(
            Skipped(
                what="nodes without a label", count=nameless, why="kgagent finds nodes by label"
            )
        )
    _choose_types(chosen, relationships, types)
    if not chosen.labels or not chosen.types:
        missing = (
            "nodes with a label"
            if not chosen.labels
            else "relationships between nodes that can be adopted"
        )
        reasons = "".join(f"; {one}" for one in chosen.skipped)
        raise InputError(f"There is nothing to adopt: the graph has no {missing}{reasons}")
    return chosen


def _choose_types(
    chosen: Choice, relationships: Sequence[RelationshipGroup], types: Collection[str] | None
) -> None:
    outside, loops, conflicts = (
        Counter[str](),
        Counter[str](),
        defaultdict[str, Counter[str]](Counter),
    )
    pairs = defaultdict[str, Counter[tuple[str, str]]](Counter)
    for group in relationships:
        if types is not None and group.type not in types:
            continue
        start, end = chosen.label_of(group.starts), chosen.label_of(group.ends)
        if start is None or end is None:
            outside[group.type] += group.count
            continue
        if group.is_loop:
            loops[group.type] += group.count
            continue
        pairs[group.type][start, end] += group.count
        conflicts[group.type].update(dict.fromkeys(group.conflicts, group.count))
    for name, connected in sorted(pairs.items(), key=lambda item: -item[1].total()):
        problem = _name_problem(name) or _conflict(conflicts[name], f"()-[r:`{name}`]->()", "r")
        if problem is None and name in chosen.labels:
            problem = "it is also the name of a label"
        if problem is not None:
            chosen.skipped.append(
                Skipped(what=name, count=connected.total(), why=problem, is_conflict=True)
            )
        else:
            chosen.types[name] = connected
    reasons = {
        "they start or end at nodes that are not adopted": outside,
        "they start and end at the same node, which the tools and searches of relationships "
        "omit": loops,
    }
    for reason, counts in reasons.items():
        chosen.skipped += [
            Skipped(what=name, count=count, why=reason) for name, count in counts.items()
        ]


def _check_known(noun: str, given: Collection[str] | None, known: Collection[str]) -> None:
    if given and (unknown := [name for name in given if name not in known]):
        raise InputError(
            f"No {noun} {unknown[0]!r} in the graph. There are: {', '.join(sorted(known))}"
        )


def _name_problem(name: str) -> str | None:
    if name in OWN_LABELS or name == "relationship":
        return "the name is reserved"
    return None if can_be_name(name) else "the name has a character that kgagent cannot quote"


def _conflict(counts: Mapping[str, int], pattern: str, variable: str) -> str | None:
    if not counts:
        return None
    name, count = max(counts.items(), key=lambda item: item[1])
    return (
        f"kgagent needs the property {name!r} for something else, and {count:,} of them have it; "
        f"store theirs under "
        f"another name: MATCH {pattern} SET {variable}.`own {name}` = {variable}.`{name}` REMOVE "
        f"{variable}.`{name}`"
    )


@dataclass(frozen=True, kw_only=True)
class PropertyFacts:
    """What a sample of records says about one of their properties.

    Attributes:
        name: name of the property.
        present: share of the records that have it, 0 to 1.
        distinct: share of its values that differ, 0 to 1.
        is_constant: whether many records have it, and all the same value.
        readable: share of its values that are words, and not identifiers, dates or addresses.
        short: share of its values that have the length of a name.
        words: mean number of words of a value.
        is_list: whether values are lists.
    """

    name: str
    present: float
    distinct: float
    is_constant: bool
    readable: float
    short: float
    words: float
    is_list: bool

    @classmethod
    def of(cls, name: str, values: Sequence[Any], records: int) -> "PropertyFacts":
        """Describe the values of a property.

        Args:
            name: name of the property.
            values: its values.
            records: number of records in the sample.
        """
        texts = [value_text(value) for value in values]
        different = len(set(texts))
        return cls(
            name=name,
            present=len(texts) / records,
            distinct=different / len(texts),
            is_constant=different == 1 and len(texts) >= CONSTANT,
            readable=mean(is_readable(text) for text in texts),
            short=mean(len(text) <= MAX_NAME for text in texts),
            words=mean(len(text.split()) for text in texts),
            is_list=any(isinstance(value, list) for value in values),
        )

    @property
    def is_text(self) -> bool:
        """Whether it says something about a record."""
        return self.readable >= 0.5 and not self.is_constant  # noqa: PLR2004

    @property
    def last_word(self) -> str:
        """The last word of the name of the property: "name" of first_name."""
        return (as_words(self.name).split() or [self.name])[-1]

    @property
    def name_score(self) -> float:
        """How well it serves as a name, 0 to about 1: present, distinct, readable, short, and of
        few words.
        """
        if self.is_list or self.words >= LONG_TEXT:
            return 0.0
        says_name = any(word in {"name", "title"} for word in as_words(self.name).split())
        score = (
            self.present
            * (0.3 + 0.7 * self.distinct)
            * self.readable
            * self.short
            / (1 + self.words / 10)
        )
        return score * (1.3 if says_name else 1.0)

    @property
    def identifier_score(self) -> float:
        """How well it tells records apart that have no name."""
        return 0.0 if self.is_list else self.present * self.distinct * self.short


def facts_of(sample: Sequence[Mapping[str, Any]]) -> list[PropertyFacts]:
    """Describe the properties of a sample of records, in the order of their names."""
    values = defaultdict[str, list[Any]](list)
    for record in sample:
        for name, value in record.items():
            values[name].append(value)
    return [
        PropertyFacts.of(name, values[name], len(sample))
        for name in sorted(values)
        if can_be_name(name)
    ]


def describe_label(sample: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The properties from which the names and descriptions of nodes are made, as fields of
    `NodeLabel`.
    """
    facts = facts_of(sample)
    is_text = [one for one in facts if one.is_text and one.name not in {"name", "description"}]
    name_from: list[str] = []
    best = max(facts, key=lambda one: (one.name_score, one.name), default=None)
    if not any(one.name == "name" and one.present * one.readable >= MIN_NAME for one in facts):
        if best is not None and best.name_score >= MIN_NAME:
            # Of first_name and last_name, single words, neither tells people apart.
            is_part = best.distinct < 1 and best.words < 1.5  # noqa: PLR2004
            parts = [
                one.name
                for one in facts
                if one.name_score >= MIN_NAME and one.last_word == best.last_word
            ]
            name_from = parts if is_part else [best.name]
        elif not any(one.words >= LONG_TEXT for one in is_text):
            identifier = max(facts, key=lambda one: (one.identifier_score, one.name), default=None)
            name_from = (
                [identifier.name] if identifier and identifier.identifier_score >= 0.8 else []  # noqa: PLR2004
            )
    texts = sorted(
        (one for one in is_text if one.name not in name_from), key=lambda one: -one.words
    )
    return {"name_from": name_from, "text_from": [one.name for one in texts]}


def describe_type(sample: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The properties from which free types and descriptions are made, as fields of
    `RelationshipDefinition`.
    """
    facts = facts_of(sample)
    is_type = [
        one.name
        for one in facts
        if one.name in TYPE_PROPERTIES
        and one.readable >= 0.5  # noqa: PLR2004
        and one.words <= MAX_TYPE_WORDS
        and not one.is_list
    ]
    reserved = {"relationship_type", "description", *is_type[:1]}
    texts = sorted(
        (one for one in facts if one.is_text and one.name not in reserved),
        key=lambda one: -one.words,
    )
    return {"type_from": is_type[:1], "text_from": [one.name for one in texts]}


def infer_ontology(
    chosen: Choice,
    label_samples: Mapping[str, Sequence[Mapping[str, Any]]],
    type_samples: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    user_id: str,
) -> Ontology:
    """Make an ontology of what was chosen.

    Args:
        chosen: labels and types.
        label_samples: properties of some nodes of each label.
        type_samples: properties of some relationships of each type.
        user_id: the user to whom all belongs.
    """
    default = default_ontology()
    return Ontology.model_validate(
        {
            "labels": {label: describe_label(label_samples[label]) for label in chosen.labels},
            "relationships": {
                name: {
                    "connects": [{"from": start, "to": end} for start, end in pairs],
                    **describe_type(type_samples[name]),
                }
                for name, pairs in chosen.types.items()
            },
            "adopted_for": user_id,
            "node_embedding": NODE_EMBEDDINGS[1],
            "note_lifetimes_in_days": default.note_lifetimes_in_days,
            "default_note_lifetime": default.default_note_lifetime,
            "stop_words": default.stop_words,
            "symmetric_types": default.symmetric_types,
        }
    )


def value_text(value: Any) -> str:  # noqa: ANN401
    """A value of a property as text; of a list, its items."""
    if isinstance(value, list):
        return ", ".join(filter(None, map(value_text, value)))
    return "" if value is None else " ".join(str(value).split())


def is_readable(text: str) -> bool:
    """Whether a text has words, and is no identifier, date or address: most of its characters are
    letters.
    """
    letters = sum(character.isalpha() for character in text)
    is_address = "://" in text.partition(" ")[0]
    return (
        bool(_WORD.search(text)) and not is_address and letters >= 0.6 * len(text.replace(" ", ""))
    )
