"""Which fact a text such as "lives in Oslo" names."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from kgagent.errors import InputError
from kgagent.formatting import listed
from kgagent.graph.facts import Fact
from kgagent.names import normalised_type


def own_types(text: str, own: Fact, given: Collection[str]) -> set[str]:
    """The types of the relationship that is written which a text names.

    Args:
        text: the text.
        own: the relationship with all its types.
        given: types that the write gives; alone, one of these names another relationship.
    """
    wanted = normalised_type(text)
    in_full = {name for one in _in_full(own, wanted) for name in one.names}
    return in_full or {wanted} & (own.names - set(given))


def named_fact(text: str, facts: Sequence[Fact], day: int) -> Fact:
    """The fact that a text names: a type and the name of a node, or only one of them.

    Args:
        text: the text.
        facts: the facts of a node, those first that the text may name.
        day: one that holds on this day, such as 20230204, is preferred.

    Raises:
        InputError: it names none, or several.
    """
    wanted = normalised_type(text)
    for is_named in (_in_full, _by_node, _by_type):
        found = [one for fact in facts for one in is_named(fact, wanted)]
        found = [fact for fact in found if fact.last >= day] or found
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(f"ends: {text!r} may be {_listed(found)}; give the type and the name")
    raise InputError(
        f"ends: {text!r} is no relationship of the two nodes. These are: {_listed(facts)}"
    )


def _in_full(fact: Fact, wanted: str) -> Iterator[Fact]:
    """The fact with the type that a text names beside a node."""
    for name in fact.names:
        one = replace(fact, names=frozenset((name,)))
        names = list(map(normalised_type, _nodes(fact)))
        forms = {normalised_type(one.text), *(f"{name} {node}" for node in names)}
        if wanted in forms:
            yield one


def _by_node(fact: Fact, wanted: str) -> Iterator[Fact]:
    if wanted in map(normalised_type, _nodes(fact)):
        yield fact


def _by_type(fact: Fact, wanted: str) -> Iterator[Fact]:
    if wanted in fact.names:
        yield replace(fact, names=frozenset((wanted,)))


def _nodes(fact: Fact) -> tuple[str, ...]:
    """The names and keys of the two nodes."""
    record = fact.record
    return record.from_name, record.to_name, record.from_entity_key, record.to_entity_key


def _listed(facts: Sequence[Fact]) -> str:
    """Facts in a message."""
    texts = list(dict.fromkeys(repr(fact.text) for fact in facts))
    return listed(texts) or "none"
