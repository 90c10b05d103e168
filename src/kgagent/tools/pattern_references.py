"""Names in constraints of a pattern query that matched nothing: other names of nodes, "me", and the nearest names."""

from collections.abc import Iterator
from dataclasses import dataclass

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.graph.reference_forms import ReferenceForms
from kgagent.models.constraint import Constraint, ConstraintType
from kgagent.models.pattern import GraphPattern
from kgagent.models.pattern_query import GraphQuery, QueryCombinator
from kgagent.suggestions import shorten_name
from kgagent.tools.context import ToolContext


@dataclass(frozen=True)
class MeantNames:
    """What the names in constraints mean.

    Attributes:
        query: the query with the keys of the nodes that are meant; None if no name means a node with another name.
        notices: which nodes are meant, such as "Bobby → Robert Hofmann (Person, 4f7d2d9f)".
        problems: for each name that means no node or several, what is known of it.
    """

    query: GraphQuery | None
    notices: tuple[str, ...]
    problems: tuple[str, ...]


async def meant_names(context: ToolContext, query: GraphQuery) -> MeantNames:
    """Find the nodes that names in constraints mean: by an alias, a part of a name, or as "me".

    A stored name is compared exactly, as the query has done.

    Raises:
        StoreError: the database failed.
    """
    names = list(dict.fromkeys(_names(query)))
    if not names:
        return MeantNames(None, (), ())
    found = await context.references.resolve_loosely(context.user_id, names)
    keys = {
        name: key
        for name in names
        if isinstance(key := found.keys[name], str) and (name in found.notices or _is_owner(name))
    }
    return MeantNames(
        _with_keys(query, keys) if keys else None,
        tuple(found.notices[name] for name in names if name in found.notices),
        tuple(_problem(name, error) for name in names if isinstance(error := found.keys[name], InputError)),
    )


def _names(query: GraphQuery) -> Iterator[str]:
    for pattern in query.all_patterns:
        yield from (name for one in pattern.constraints if (name := _name_of(one)) is not None)


def _name_of(constraint: Constraint) -> str | None:
    """The name that a node must have; None for other constraints."""
    is_of_name = (constraint.type, constraint.on, constraint.property_path) == (
        ConstraintType.PROPERTY_EQUALS,
        "node",
        "name",
    )
    return constraint.value if is_of_name and isinstance(constraint.value, str) else None


def _is_owner(name: str) -> bool:
    forms = ReferenceForms.of(name)
    return forms is not None and forms.is_owner


def _problem(name: str, error: InputError) -> str:
    if not isinstance(error, NodeNotFoundError):
        return str(error)
    return ". ".join(filter(None, (f"No node is named {shorten_name(name)!r}", error.hint)))


def _with_keys(query: GraphQuery, keys: dict[str, str]) -> GraphQuery:
    def changed(part: GraphPattern | QueryCombinator) -> GraphPattern | QueryCombinator:
        if isinstance(part, QueryCombinator):
            return part.model_copy(update={"patterns": tuple(map(changed, part.patterns))})
        return part.model_copy(update={"constraints": tuple(map(with_key, part.constraints))})

    def with_key(constraint: Constraint) -> Constraint:
        key = keys.get(_name_of(constraint) or "")
        changes = {} if key is None else {"property_path": "entity_key", "value": key}
        return constraint.model_copy(update=changes)

    combinator = None if query.combinator is None else changed(query.combinator)
    return query.model_copy(update={"patterns": tuple(map(changed, query.patterns)), "combinator": combinator})
