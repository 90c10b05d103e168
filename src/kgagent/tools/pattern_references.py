"""Names and free types in constraints of a pattern query that matched nothing: what they mean, and the nearest ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.graph.reference_forms import ReferenceForms
from kgagent.models.constraint import Constraint, ConstraintType
from kgagent.models.pattern import GraphPattern
from kgagent.models.pattern_query import GraphQuery, QueryCombinator
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


async def meant_values(context: ToolContext, query: GraphQuery) -> MeantValues:
    """Find what constraints mean: nodes by an alias, a part of a name or "me", and free types in other spellings.

    Stored names and types are compared exactly, as the query has done.

    Raises:
        StoreError: the database failed.
    """
    constraints = [one for pattern in query.all_patterns for one in pattern.constraints]
    names = list(dict.fromkeys(name for one in constraints if (name := _name_of(one)) is not None))
    given = list(dict.fromkeys(kind for one in constraints for kind in _types_of(one)))
    types, unknown = await spellings(context, given)
    found = await context.references.resolve_loosely(context.user_id, names)
    keys = {
        name: key
        for name in names
        if isinstance(key := found.keys[name], str) and (name in found.notices or _is_owner(name))
    }
    meant = _with_meant(query, keys, types)
    problems = [_problem(name, error) for name in names if isinstance(error := found.keys[name], InputError)]
    return MeantValues(
        None if meant == query else meant,
        tuple(found.notices[name] for name in names if name in found.notices),
        (*problems, *unknown),
    )


def _name_of(constraint: Constraint) -> str | None:
    """The name that a node must have; None for other constraints."""
    is_of_name = (constraint.type, constraint.on, constraint.property_path) == (
        ConstraintType.PROPERTY_EQUALS,
        "node",
        "name",
    )
    return constraint.value if is_of_name and isinstance(constraint.value, str) else None


def _types_of(constraint: Constraint) -> list[str]:
    """The free types of which a relationship must have one; none for other constraints."""
    if constraint.on != "relationship" or constraint.property_path != "relationship_type":
        return []
    if constraint.type not in {ConstraintType.PROPERTY_EQUALS, ConstraintType.PROPERTY_IN}:
        return []
    values = constraint.value if isinstance(constraint.value, list) else [constraint.value]
    types = [value for value in values if isinstance(value, str)]
    return types if len(types) == len(values) else []


def _is_owner(name: str) -> bool:
    forms = ReferenceForms.of(name)
    return forms is not None and forms.is_owner


def _problem(name: str, error: InputError) -> str:
    if not isinstance(error, NodeNotFoundError):
        return str(error)
    return ". ".join(filter(None, (f"No node is named {shorten_name(name)!r}", error.hint)))


def _with_meant(query: GraphQuery, keys: Mapping[str, str], types: Mapping[str, Sequence[str]]) -> GraphQuery:
    def changed(part: GraphPattern | QueryCombinator) -> GraphPattern | QueryCombinator:
        if isinstance(part, QueryCombinator):
            return part.model_copy(update={"patterns": tuple(map(changed, part.patterns))})
        return part.model_copy(update={"constraints": tuple(map(with_meant, part.constraints))})

    def with_meant(constraint: Constraint) -> Constraint:
        if key := keys.get(_name_of(constraint) or ""):
            return constraint.model_copy(update={"property_path": "entity_key", "value": key})
        given = _types_of(constraint)
        stored = list(dict.fromkeys(spelling for one in given for spelling in types[one]))
        if stored == given:
            return constraint
        return constraint.model_copy(update={"type": ConstraintType.PROPERTY_IN, "value": stored})

    combinator = None if query.combinator is None else changed(query.combinator)
    return query.model_copy(update={"patterns": tuple(map(changed, query.patterns)), "combinator": combinator})
