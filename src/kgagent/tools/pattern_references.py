"""Names and free types in constraints of a pattern query: what they mean, and the nearest ones."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.graph.reference_forms import ReferenceForms
from kgagent.models.constraint import LIST_TYPES, Constraint, ConstraintType
from kgagent.models.pattern import Branch, GraphPattern
from kgagent.models.pattern_query import GraphQuery, QueryCombinator
from kgagent.patterns.names import FREE_TYPE
from kgagent.suggestions import shorten_name
from kgagent.tools.context import ToolContext
from kgagent.tools.relationship_types import spellings


@dataclass(frozen=True)
class MeantValues:
    """What the names and free types in constraints mean.

    Attributes:
        query: the query with the keys of the nodes, and the spellings of the types, that are meant; None if it would be
            the same.
        notices: which nodes are meant, such as "Bobby → Robert Hofmann (Person, 4f7d2d9f)".
        problems: for each name that means no node or several, and each type that no relationship has, what is known of
            it.
    """

    query: GraphQuery | None
    notices: tuple[str, ...]
    problems: tuple[str, ...]


async def meant_values(context: ToolContext, query: GraphQuery, *, unnoticed: bool = False) -> MeantValues:
    """Find what constraints mean: nodes by an alias, a part of a name or "me", and free types in other spellings.

    Stored names and types are compared exactly, as the query does.

    Args:
        context: the user's graph.
        query: its patterns.
        unnoticed: only of constraints in which a wrong name may go unnoticed, as paths are found nevertheless: lists,
            and what must not exist.

    Raises:
        StoreError: the database failed.
    """
    constraints = list(_constraints(query, unnoticed=unnoticed))
    names = list(dict.fromkeys(name for one in constraints for name in _names_of(one)))
    given = list(dict.fromkeys(kind for one in constraints for kind in _types_of(one)))
    if not names and not given:
        return MeantValues(None, (), ())
    types, unknown = await spellings(context, given)
    found = await context.references.resolve_loosely(context.user_id, names)
    others = {name for name in names if name in found.notices or _is_owner(name)}
    meant = _with_meant(query, found.keys, others, types)
    problems = [_problem(name, error) for name in names if isinstance(error := found.keys[name], InputError)]
    spelt = [f"{one} → {', '.join(types[one])}" for one in given if list(types[one]) != [one]]
    return MeantValues(
        None if meant == query else meant,
        (*(found.notices[name] for name in names if name in found.notices), *spelt),
        (*problems, *unknown),
    )


def _constraints(query: GraphQuery, *, unnoticed: bool) -> Iterator[Constraint]:
    for pattern in query.all_patterns:
        for branch in (None, *pattern.branches):
            may_be_absent = branch is not None and branch.minimum == 0
            for constraint in (pattern if branch is None else branch).constraints:
                if not unnoticed or may_be_absent or constraint.type in LIST_TYPES:
                    yield constraint


_COMPARED = frozenset({ConstraintType.PROPERTY_EQUALS, *LIST_TYPES})


def _names_of(constraint: Constraint) -> list[str]:
    """The names that a node must, or must not, have; none for other constraints."""
    return _texts(constraint) if (constraint.on, constraint.property_path) == ("node", "name") else []


def _types_of(constraint: Constraint) -> list[str]:
    """The free types that a relationship must, or must not, have; none for other constraints."""
    return _texts(constraint) if (constraint.on, constraint.property_path) == ("relationship", FREE_TYPE) else []


def _texts(constraint: Constraint) -> list[str]:
    """What a property is compared with for equality, if that is text."""
    if constraint.type not in _COMPARED:
        return []
    values = constraint.value if isinstance(constraint.value, list) else [constraint.value]
    texts = [value for value in values if isinstance(value, str)]
    return texts if len(texts) == len(values) else []


def _is_owner(name: str) -> bool:
    forms = ReferenceForms.of(name)
    return forms is not None and forms.is_owner


def _problem(name: str, error: InputError) -> str:
    if not isinstance(error, NodeNotFoundError):
        return str(error)
    return ". ".join(filter(None, (f"No node is named {shorten_name(name)!r}", error.hint)))


def _with_meant(
    query: GraphQuery, keys: Mapping[str, str | InputError], others: Set[str], types: Mapping[str, Sequence[str]]
) -> GraphQuery:
    """The query with the keys of the nodes that `others` mean, which are not exactly names, and stored free types."""

    def changed(part: GraphPattern | QueryCombinator) -> GraphPattern | QueryCombinator:
        if isinstance(part, QueryCombinator):
            return part.model_copy(update={"patterns": tuple(map(changed, part.patterns))})
        branches = (branch.model_copy(update={"constraints": meant(branch)}) for branch in part.branches)
        return part.model_copy(update={"constraints": meant(part), "branches": tuple(branches)})

    def meant(part: GraphPattern | Branch) -> tuple[Constraint, ...]:
        named = (constraint for one in part.constraints for constraint in _with_keys(one, keys, others))
        return tuple(_with_types(one, types) for one in named)

    combinator = None if query.combinator is None else changed(query.combinator)
    return query.model_copy(update={"patterns": tuple(map(changed, query.patterns)), "combinator": combinator})


def _with_keys(constraint: Constraint, keys: Mapping[str, str | InputError], others: Set[str]) -> list[Constraint]:
    """The constraint with the keys of the nodes that are meant instead of names.

    Of names to exclude, only `others` are replaced: several nodes may have an exact one, and all are excluded.
    """
    names = _names_of(constraint)
    if others.isdisjoint(names):
        return [constraint]
    if constraint.type is ConstraintType.NOT_IN:
        exact = [name for name in names if name not in others]
        rest = [constraint.model_copy(update={"value": exact})] if exact else []
        names = [name for name in names if name in others]
    elif any(isinstance(keys[name], InputError) and not isinstance(keys[name], NodeNotFoundError) for name in names):
        return [constraint]
    else:
        rest = []
    meant: list[Any] = [key for name in names if isinstance(key := keys[name], str)]
    value = meant if constraint.type in LIST_TYPES else meant[0]
    return [constraint.model_copy(update={"property_path": "entity_key", "value": value}), *rest]


def _with_types(constraint: Constraint, types: Mapping[str, Sequence[str]]) -> Constraint:
    """The constraint with free types as they are stored."""
    given = _types_of(constraint)
    stored = list(dict.fromkeys(spelling for one in given for spelling in types.get(one, [one])))
    if stored == list(dict.fromkeys(given)):
        return constraint
    kind = constraint.type if constraint.type in LIST_TYPES else ConstraintType.PROPERTY_IN
    return constraint.model_copy(update={"type": kind, "value": stored})
