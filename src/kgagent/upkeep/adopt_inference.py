"""Inferring an ontology from a graph that other programs wrote: which property is a name, which
hold text, and which say when a relationship held.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from statistics import mean
from typing import Any

from neo4j.time import Date, DateTime

from kgagent.errors import InputError
from kgagent.graph.property_names import BOOKKEEPING, NODE_EMBEDDINGS, TIMES
from kgagent.graph.schema_parts import OWN_LABELS
from kgagent.models.when import periods_of
from kgagent.ontology import Ontology, default_ontology
from kgagent.ontology.definitions import can_be_name
from kgagent.ontology.model import as_words
from kgagent.upkeep.migration_report import Skipped

MAX_NAME = 100
"""Characters of a text that can be a name."""

MIN_NAME = 0.25
"""Least score of a property that is taken for the name: records have it, as readable, distinct,
short text.
"""

BETTER_NAME = 1.5
"""How many times better than `name` another property has to be as a name to be another name."""

LIST_AS_NAME = 0.9
"""Factor of the score of a list: its items are more often words about a record than its names."""

LONG_TEXT = 8
"""Mean number of words from which on a property is text of its own, whose beginning serves as a
name.
"""

MAX_TYPE_WORDS = 3
"""Words of a value that can be the free type of a relationship."""

TYPE_PROPERTIES = frozenset({"name", "type"})
"""Properties of a relationship that say what it is, if their values are short."""

READABLE = 0.5
"""Least share of readable values of a property that is text, and of days of one that is a time."""

BEGIN_WORDS = frozenset({"since", "from", "start", "started", "begin", "valid"})
END_WORDS = frozenset({"until", "to", "end", "ended", "invalid"})
"""Words in the name of a property that says when something began or ended."""

MIN_IDENTIFIER = 0.8
"""Least score of an identifier that serves as a name."""

CONSTANT = 3
"""Equal values from which on a property says nothing about a record."""

_NO_CONTENT = {*BOOKKEEPING, "entity_key", "user_id"}
_TIMES_IN_WORDS = frozenset(map(as_words, TIMES))
_DATE = re.compile(r"((?:1\d|20|21)\d\d(?:-\d\d(-\d\d)?)?)(?:[T ]\d\d:.*)?")
_WORD = re.compile(r"[^\W\d_]{2,}")

NO_TYPE = "RELATED_TO"
"""The type of relationships that tools can create in a graph without any."""

Conflict = Sequence[str] | None
"""Why records cannot be adopted: a reason, and the property concerned; None if they can."""

RENAME = (
    "MATCH {pattern} WHERE {variable}.`{name}` IS NOT NULL SET {variable}.`own {name}` = "
    "{variable}.`{name}` REMOVE {variable}.`{name}`"
)
REASONS = {
    "needed": f"kgagent needs the property '{{name}}' for something else; store theirs under "
    f"another name: {RENAME}",
    "shared": "another node has the same entity_key, by which kgagent tells nodes apart; change "
    "one of them",
    "unique": "a constraint of another program keeps '{name}' unique, and they have none, so that "
    "kgagent would write it; set it, or drop the constraint",
    "outside": "they start or end at nodes that are not adopted",
    "loop": "they start and end at the same node, which the tools and searches of relationships "
    "omit",
    "reserved": "the name is reserved, or has a character that kgagent cannot quote",
    "alone": "the only node of its label, without relationships, such as the configuration of a "
    "program; to adopt it, add the label to the ontology",
    "unlabelled": "kgagent finds nodes by label",
}
"""What is said about records that cannot be adopted, and what to do."""


@dataclass(frozen=True, kw_only=True)
class NodeGroup:
    """Nodes with the same labels.

    Attributes:
        labels: their labels.
        conflict: why they cannot be adopted.
        is_alone: whether they have no relationships.
        count: number of the nodes.
    """

    labels: Sequence[str]
    is_alone: bool = False
    conflict: Conflict = None
    count: int


@dataclass(frozen=True, kw_only=True)
class RelationshipGroup:
    """Relationships of one type between nodes with the same labels.

    Attributes:
        type: their type.
        starts: labels of the nodes at which they start.
        ends: labels of the nodes at which they end.
        conflict: why they cannot be adopted.
        count: number of the relationships.
    """

    type: str
    starts: Sequence[str]
    ends: Sequence[str]
    conflict: Conflict = None
    count: int


@dataclass
class Choice:
    """The labels and types to adopt, and what is left out.

    Attributes:
        labels: number of nodes of each label, the most specific label first.
        types: for each type, the number of its relationships by the labels that they connect.
        left_out: number of records by pattern ("node" or "relationship"), label or type, reason and
            property.
    """

    labels: dict[str, int] = field(default_factory=dict)
    types: dict[str, Counter[tuple[str, str]]] = field(default_factory=dict)
    left_out: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What is left out, with what to do about it."""
        return tuple(map(self._said, self.left_out))

    @property
    def refused_types(self) -> tuple[Skipped, ...]:
        """The types that are left out as a whole."""
        return tuple(
            self._said(one)
            for one in self.left_out
            if one[0] == "relationship" and one[2] not in {"outside", "loop"}
        )

    def _said(self, left_out: tuple[str, str, str, str]) -> Skipped:
        kind, what, reason, name = left_out
        pattern = f"(n:`{what}`)" if kind == "node" else f"()-[r:`{what}`]->()"
        why = REASONS[reason].format(name=name, pattern=pattern, variable=kind[0])
        return Skipped(what=f"{what} ({self.left_out[left_out]:,})", why=why)

    def label_of(self, labels: Iterable[str]) -> str | None:
        """The most specific of some labels that is adopted."""
        present = set(labels)
        return next((label for label in self.labels if label in present), None)


def choose(
    nodes: Sequence[NodeGroup],
    relationships: Sequence[RelationshipGroup],
    ontology: Ontology | None = None,
) -> Choice:
    """Choose what to adopt: of several labels of a node, the one that the fewest nodes have.

    A node that cannot be adopted is left out alone, a relationship with all of its type: the tools
    would take it for the user's. The only node of a label is left out if it has no relationships.

    Args:
        nodes: all nodes.
        relationships: all relationships.
        ontology: the labels and types to adopt; None adopts all.

    Raises:
        InputError: no node can be adopted.
    """
    counts = Counter[str]()
    for group in nodes:
        counts.update(dict.fromkeys(group.labels, group.count))
    chosen, found = Choice(), Counter[str]()
    usable = [
        label
        for label in counts
        if (ontology is None or label in ontology.labels) and _is_usable(label)
    ]
    usable.sort(key=lambda label: (counts[label], label.startswith("_"), label))
    guesses = ontology is None and not all(group.is_alone for group in nodes)
    for group in nodes:
        labels = [one for one in usable if one in group.labels]
        own = next(iter(labels), None)
        is_only_one = group.is_alone and all(counts[label] == 1 for label in labels)
        if own is not None and guesses and is_only_one:
            chosen.left_out["node", own, "alone", ""] += group.count
        elif own is not None and group.conflict is None:
            found[own] += group.count
        elif own is not None and group.conflict is not None:
            chosen.left_out["node", own, group.conflict[0], group.conflict[1]] += group.count
        elif not any(map(_is_usable, group.labels)):
            what = ":".join(group.labels) or "nodes without a label"
            reason = "reserved" if group.labels else "unlabelled"
            chosen.left_out["node", what, reason, ""] += group.count
    chosen.labels = {label: found[label] for label in usable if found[label]}
    _choose_types(chosen, relationships, ontology)
    if not chosen.labels:
        reasons = "; ".join(map(str, chosen.skipped)) or "the graph has no nodes with a label"
        raise InputError(f"There is nothing to adopt: {reasons}")
    return chosen


def _choose_types(
    chosen: Choice, relationships: Sequence[RelationshipGroup], ontology: Ontology | None
) -> None:
    pairs = defaultdict[str, Counter[tuple[str, str]]](Counter)
    conflicts: dict[str, tuple[str, str]] = {}
    for group in relationships:
        if ontology is not None and group.type not in ontology.relationships:
            continue
        start, end = chosen.label_of(group.starts), chosen.label_of(group.ends)
        reason, name = group.conflict or ("", "")
        if start is None or end is None or reason == "outside":
            chosen.left_out["relationship", group.type, "outside", ""] += group.count
        elif reason == "loop":
            chosen.left_out["relationship", group.type, "loop", ""] += group.count
        else:
            pairs[group.type][start, end] += group.count
            if reason:
                conflicts[group.type] = reason, name
            elif not _is_usable(group.type) or group.type in chosen.labels:
                conflicts[group.type] = "reserved", ""
    for name, connected in sorted(pairs.items(), key=lambda item: -item[1].total()):
        if conflict := conflicts.get(name):
            chosen.left_out["relationship", name, *conflict] += connected.total()
        else:
            chosen.types[name] = connected


def _is_usable(name: str) -> bool:
    """Whether a label or a type can be in an ontology."""
    return name not in OWN_LABELS and name != "relationship" and can_be_name(name)


@dataclass(frozen=True, kw_only=True)
class PropertyFacts:
    """What a sample of records says about one of their properties; shares are 0 to 1.

    Attributes:
        name: name of the property.
        present: share of the records that have it.
        distinct: share of its values that differ.
        readable: share of its values that are words, and not identifiers, dates or addresses.
        short: share of its values that have the length of a name.
        name_score: how well it serves as a name, see `_name_score`.
        words: mean number of words of a value.
        is_list: whether values are lists.
        days: share of its values that are days.
        dates: share of its values that are days, months or years.
        is_text: whether it says something about a record: it is readable, a number or a day, and
            not always the same.
    """

    name: str
    present: float
    distinct: float
    readable: float
    short: float
    name_score: float
    words: float
    days: float
    dates: float
    is_list: bool
    is_text: bool

    @classmethod
    def of(cls, name: str, values: Sequence[Any], records: int) -> "PropertyFacts":
        """Describe the values of a property of so many records."""
        texts = [value_text(value) for value in values]
        different = len(set(texts))
        readable = mean(map(is_readable, texts))
        dates = list(filter(None, map(date_in, values)))
        days = sum(len(date) > len("2024-05") for date in dates) / len(texts)
        is_value = days >= READABLE or all(isinstance(value, int | float) for value in values)
        return cls(
            name=name,
            present=len(texts) / records,
            distinct=different / len(texts),
            readable=readable,
            short=mean(len(text) <= MAX_NAME for text in texts),
            name_score=_name_score(values) * len(texts) / records,
            words=mean(len(text.split()) for text in texts),
            days=days,
            dates=len(dates) / len(texts),
            is_list=any(isinstance(value, list) for value in values),
            is_text=(readable >= READABLE or is_value) and (different > 1 or len(texts) < CONSTANT),
        )

    @property
    def words_of_name(self) -> Sequence[str]:
        """The words of the name of the property: "last name" of lastName."""
        return as_words(self.name).split() or [self.name]

    @property
    def identifier_score(self) -> float:
        """How well it tells records apart that have no name, 0 to 1."""
        return 0.0 if self.is_list else self.present * self.distinct * self.short


def _name_score(values: Sequence[Any]) -> float:
    """How well values serve as names, 0 to 1: distinct, readable, short, and of few words; of a
    list, its first name.
    """
    names = [next(iter(names_in(value)), "") for value in values]
    words = mean(len(name.split()) for name in names)
    if words >= LONG_TEXT:
        return 0.0
    distinct = len(set(names)) / len(names)
    readable = mean(map(is_readable, names)) * mean(len(name) <= MAX_NAME for name in names)
    score = (0.3 + 0.7 * distinct) * readable / (1 + words / 20)
    return score * LIST_AS_NAME if any(isinstance(value, list) for value in values) else score


def facts_of(sample: Sequence[Mapping[str, Any]]) -> list[PropertyFacts]:
    """Describe the properties of a sample of records that hold texts, numbers or days, in the order
    of their names.
    """
    values = defaultdict[str, list[Any]](list)
    for record in sample:
        for name, value in record.items():
            is_list = isinstance(value, list)
            known = {str, int} if is_list else {str, int, float, Date, DateTime}
            has_content = name not in _NO_CONTENT and as_words(name) not in _TIMES_IN_WORDS
            if (
                has_content
                and {type(item) for item in (value if is_list else [value])} <= known
                and can_be_name(name)
            ):
                values[name].append(value)
    return [PropertyFacts.of(name, values[name], len(sample)) for name in sorted(values)]


def describe_label(facts: Sequence[PropertyFacts]) -> dict[str, Any]:
    """The properties from which the names and descriptions of nodes are made, as fields of
    `NodeLabel`.
    """
    name_from = _name_from(facts)
    return {
        "name_from": name_from,
        "text_from": _texts_without(facts, {"name", "description", *name_from}),
    }


def describe_type(facts: Sequence[PropertyFacts]) -> dict[str, Any]:
    """The properties from which free types, times and descriptions are made, as fields of
    `RelationshipDefinition`.
    """
    when_from = _when_from(facts)
    type_from = [
        one.name
        for one in facts
        if one.name in TYPE_PROPERTIES
        and one.readable >= READABLE
        and one.words <= MAX_TYPE_WORDS
        and not one.is_list
    ][:1]
    used = {"relationship_type", "description", *type_from, *when_from.split("/")}
    return {
        "type_from": type_from,
        "when_from": when_from,
        "text_from": _texts_without(facts, used),
    }


def _when_from(facts: Sequence[PropertyFacts]) -> str:
    """The properties that say when a relationship held, as those of `when_from`; of several days
    whose names do not say which begins or ends, none.
    """
    dates = [
        one for one in facts if one.dates >= READABLE and one.name != "when" and "/" not in one.name
    ]
    ends = [one for one in dates if END_WORDS & {*one.words_of_name}]
    begins = [one for one in dates if BEGIN_WORDS & {*one.words_of_name} and one not in ends]
    if begins or ends:
        return "/".join(
            max(some, key=lambda one: one.present).name if some else ".." for some in (begins, ends)
        )
    days = [one.name for one in dates if one.days >= READABLE]
    return days[0] if len(days) == 1 else ""


def _name_from(facts: Sequence[PropertyFacts]) -> list[str]:
    """The properties of which names are made; none if `name` is one."""
    best = max(facts, key=lambda one: (one.name_score, one.name), default=None)
    own = next((one for one in facts if one.name == "name"), None)
    if best and own and own.present * own.readable >= MIN_NAME:
        return [best.name] if best.name_score > BETTER_NAME * own.name_score else []
    if best is not None and best.name_score >= MIN_NAME:
        # Of first_name and last_name, single words, neither tells people apart.
        is_part = best.distinct < 1 and best.words < 1.5  # noqa: PLR2004
        last = best.words_of_name[-1]
        named = [one for one in facts if one.name_score >= MIN_NAME]
        parts = [one.name for one in named if one.words_of_name[-1] == last]
        return parts if is_part else [best.name]
    if any(one.is_text and one.words >= LONG_TEXT for one in facts):
        return []
    identifier = max(facts, key=lambda one: (one.identifier_score, one.name), default=None)
    is_enough = identifier is not None and identifier.identifier_score >= MIN_IDENTIFIER
    return [identifier.name] if identifier and is_enough else []


def _texts_without(facts: Sequence[PropertyFacts], names: Collection[str]) -> list[str]:
    """The properties that say something, the longest first, numbers and days last, without those
    of some names.
    """
    texts = [one for one in facts if one.is_text and one.name not in names]
    return [
        one.name for one in sorted(texts, key=lambda one: (one.readable < READABLE, -one.words))
    ]


def infer_ontology(
    chosen: Choice, facts: Mapping[str, Sequence[PropertyFacts]], user_id: str
) -> Ontology:
    """Make an ontology of what was chosen.

    Args:
        chosen: labels and types.
        facts: the properties of each label and type.
        user_id: the user to whom all belongs.
    """
    default = default_ontology()
    any_pair = {NO_TYPE: Counter(combinations_with_replacement(chosen.labels, 2))}
    return Ontology.model_validate(
        {
            "labels": {label: describe_label(facts[label]) for label in chosen.labels},
            "relationships": {
                name: {
                    "connects": [{"from": start, "to": end} for start, end in pairs],
                    **describe_type(facts.get(name, ())),
                }
                for name, pairs in (chosen.types or any_pair).items()
            },
            "adopted_for": user_id,
            "node_embedding": NODE_EMBEDDINGS[1],
            "note_lifetimes_in_days": default.note_lifetimes_in_days,
            "default_note_lifetime": default.default_note_lifetime,
            "stop_words": default.stop_words,
            "symmetric_types": default.symmetric_types,
            "single_valued_types": default.single_valued_types,
            "single_holder_types": default.single_holder_types,
        }
    )


def value_text(value: Any) -> str:  # noqa: ANN401
    """A value of a property as text; of a list, its items."""
    if isinstance(value, list):
        return ", ".join(filter(None, map(value_text, value)))
    if isinstance(value, DateTime):
        return str(value)[: len("2024-05-01T12:00")].replace("T", " ")
    return "" if value is None else " ".join(str(value).split())


def names_in(value: Any) -> list[str]:  # noqa: ANN401
    """The names in a value; of a list, those that are readable come first."""
    texts = map(value_text, value if isinstance(value, list) else [value])
    return sorted(filter(None, texts), key=lambda text: not is_readable(text))


def date_in(value: Any) -> str:  # noqa: ANN401
    """A day, a month or a year in EDTF; empty if a value is none."""
    found = None if isinstance(value, list) else _DATE.fullmatch(str(value))
    return found[1] if found and periods_of(found[1]) else ""


def is_readable(text: str) -> bool:
    """Whether a text has words, and is no identifier, date or address: most of its characters are
    letters.
    """
    letters = sum(character.isalpha() for character in text)
    is_address = "://" in text.partition(" ")[0]
    return (
        bool(_WORD.search(text)) and not is_address and letters >= 0.6 * len(text.replace(" ", ""))
    )
