"""Names and free types in constraints of a pattern query: what they mean, and the nearest ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.formatting import counted
from kgagent.graph.records import NodeRecord
from kgagent.graph.reference_forms import ReferenceForms, is_generated_key
from kgagent.models.constraint import EQUALITY_TYPES, LIST_TYPES, Constraint, ConstraintType
from kgagent.models.pattern import Branch, GraphPattern
from kgagent.models.pattern_query import GraphQuery, ResolutionTarget
from kgagent.names import normalised_name, shorten_name
from kgagent.ontology import Ontology
from kgagent.patterns.names import FREE_TYPE
from kgagent.search.stored_types import spellings
from kgagent.tools.context import ToolContext

MAX_NAMES, MAX_EXPLAINED = 50, 3
"""Names of a query that are looked up, and unknown ones that are explained; others are only
compared, or counted.
"""


@dataclass(frozen=True)
class ResolvedValues:
    """What the names and free types in constraints mean.

    Attributes:
        query: the query with the nodes, and the spellings of the types, that are meant; None if it
            would be the same.
        notices: which nodes are meant, such as "Bobby → Robert Hofmann (Person, 4f7d2d9f)".
        problems: what is wrong with each name that means no node, and each type that no
            relationship has.
    """

    query: GraphQuery | None = None
    notices: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


async def resolve_values(
    context: ToolContext, query: GraphQuery, *, unnoticed: bool = False
) -> ResolvedValues:
    """Find what constraints mean: nodes by an alias, a part of a name or "me", and free types in
    other spellings.

    Stored names and types are compared exactly, as the query does. What is not in the ontology is
    only compared so: if the user has any such nodes, constraints in which a wrong name may go
    unnoticed are left as they are.

    Args:
        context: the user's graph.
        query: its patterns.
        unnoticed: only of constraints in which a wrong name may go unnoticed, as paths are found
            nevertheless: lists, and what must not exist.

    Raises:
        StoreError: the database failed.
    """
    constraints = list(_constraints(query, unnoticed=unnoticed))
    names = list(dict.fromkeys(name for constraint in constraints for name in _names(constraint)))
    types = list(
        dict.fromkeys(name for constraint in constraints for name in _free_types(constraint))
    )
    if not names and not types:
        return ResolvedValues()
    is_own = await _is_of_ontology(context)
    if (unnoticed and not is_own) or len(names) > MAX_NAMES:
        return ResolvedValues()
    stored_types, unknown_types = await spellings(
        context.relationships.store, context.user_id, types if is_own else ()
    )
    resolved = await context.resolver.find(context.user_id, names)
    outcomes = {name: resolved.outcome(name) for name in names}
    keys = {name: key for name, key in outcomes.items() if isinstance(key, str)}
    records = await context.nodes.read(context.user_id, list(keys.values()))
    nodes = {
        name: records[key]
        for name, key in keys.items()
        if key in records
        and records[key].text("name") not in {"", name}
        and not _is_title_of_owner(name, context.ontology)
    }
    changed = _replaced(query, nodes, stored_types)
    notices = [
        next(iter(resolved.notices([name])), f"{name} → {node.text('name')}")
        for name, node in nodes.items()
        if normalised_name(name) not in context.ontology.owner_words
    ]
    spelled = [
        f"{name} → {', '.join(stored)}"
        for name, stored in stored_types.items()
        if list(stored) != [name]
    ]
    problems = _problems(outcomes, unnoticed=unnoticed)
    return ResolvedValues(
        None if changed == query else changed, (*notices, *spelled), (*problems, *unknown_types)
    )


async def resolved_targets(
    context: ToolContext, targets: Sequence[ResolutionTarget]
) -> tuple[ResolutionTarget, ...]:
    """Give targets the keys of the nodes that they mean.

    A description is replaced only if it means the owner or is the beginning of a key: what it is
    otherwise, the query decides. A target that refers to no node stays as it is.

    Raises:
        InputError: an `entity_key` is ambiguous.
    """
    references = {
        target: reference
        for target in targets
        if (reference := _reference_of(target, context.ontology))
        and not is_generated_key(reference)
    }
    resolved = await context.resolver.find(context.user_id, references.values(), loosely=False)
    keys = {target: resolved.key_or_text(text) for target, text in references.items()}
    return tuple(
        target
        if keys.get(target) in {None, references.get(target)}
        else target.model_copy(update={"entity_key": keys[target]})
        for target in targets
    )


def _reference_of(target: ResolutionTarget, ontology: Ontology) -> str | None:
    """The text of a target that may be a reference; None if the query finds the node itself."""
    if target.entity_key is not None:
        return target.entity_key
    forms = ReferenceForms.of(target.description)
    if forms is None:
        return None
    is_owner = forms.name in ontology.owner_words and target.label in {None, ontology.owner_label}
    return target.description if is_owner or forms.prefixes else None


async def _is_of_ontology(context: ToolContext) -> bool:
    """Whether all labels and Neo4j types that the user has are those of the ontology, as far as was
    read.
    """
    schema = await context.live_schema.read(context.user_id)
    labels = {label.name for label in schema.labels}
    types = {kind.name for kind in schema.relationship_types}
    return (
        labels <= context.ontology.labels.keys() and types <= context.ontology.relationships.keys()
    )


def _is_title_of_owner(name: str, ontology: Ontology) -> bool:
    """Whether a word for the owner is written as a name, such as "Me", which another node may
    have.
    """
    return name != "I" and name.istitle() and normalised_name(name) in ontology.owner_words


def _problems(keys: Mapping[str, str | InputError], *, unnoticed: bool) -> Iterator[str]:
    """What is wrong with names that mean no node, or several; of a list, several nodes may have
    exactly one name.
    """
    explained = NodeNotFoundError if unnoticed else InputError
    errors = [(name, error) for name, error in keys.items() if isinstance(error, explained)]
    for name, error in errors[:MAX_EXPLAINED]:
        if isinstance(error, NodeNotFoundError):
            yield ". ".join(filter(None, (f"No node is named {shorten_name(name)!r}", error.hint)))
        else:
            yield str(error)
    if len(errors) > MAX_EXPLAINED:
        yield f"{counted(len(errors) - MAX_EXPLAINED, 'other name')} mean no single node"


def _constraints(query: GraphQuery, *, unnoticed: bool) -> Iterator[Constraint]:
    for pattern in query.all_patterns:
        parts: tuple[GraphPattern | Branch, ...] = (pattern, *pattern.branches)
        for part in parts:
            may_be_absent = isinstance(part, Branch) and part.minimum == 0
            for constraint in part.constraints:
                if not unnoticed or may_be_absent or constraint.type in LIST_TYPES:
                    yield constraint


def _names(constraint: Constraint) -> list[str]:
    """The names that a node must, or must not, have; none for other constraints."""
    return (
        _texts(constraint) if (constraint.on, constraint.property_path) == ("node", "name") else []
    )


def _free_types(constraint: Constraint) -> list[str]:
    """The free types that a relationship must, or must not, have; none for other constraints."""
    return (
        _texts(constraint)
        if (constraint.on, constraint.property_path) == ("relationship", FREE_TYPE)
        else []
    )


def _texts(constraint: Constraint) -> list[str]:
    """What a property is compared with for equality, if that is text."""
    values = constraint.compared_values
    texts = [value for value in values if isinstance(value, str)]
    return texts if constraint.type in EQUALITY_TYPES and len(texts) == len(values) else []


def _replaced(
    query: GraphQuery, nodes: Mapping[str, NodeRecord], types: Mapping[str, Sequence[str]]
) -> GraphQuery:
    """The query with the nodes that names mean, and free types as they are stored."""

    def changed(pattern: GraphPattern) -> GraphPattern:
        branches = (
            branch.model_copy(update={"constraints": resolved(branch)})
            for branch in pattern.branches
        )
        return pattern.model_copy(
            update={"constraints": resolved(pattern), "branches": tuple(branches)}
        )

    def resolved(part: GraphPattern | Branch) -> tuple[Constraint, ...]:
        named = (
            replaced
            for constraint in part.constraints
            for replaced in _with_nodes(constraint, nodes)
        )
        return tuple(_with_types(constraint, types) for constraint in named)

    patterns = tuple(map(changed, query.all_patterns))
    if query.combinator is None:
        return query.model_copy(update={"patterns": patterns})
    return query.model_copy(
        update={"combinator": query.combinator.model_copy(update={"patterns": patterns})}
    )


def _with_nodes(constraint: Constraint, nodes: Mapping[str, NodeRecord]) -> list[Constraint]:
    """The constraint on the nodes that are meant.

    By key, except in a list of nodes of which one is required: there may be several of a name that
    is exactly one, and they have no single key. Names to exclude get a second constraint for that
    reason.
    """
    names = _names(constraint)
    if nodes.keys().isdisjoint(names):
        return [constraint]
    if constraint.type is ConstraintType.PROPERTY_IN:
        stored = [nodes[name].text("name") if name in nodes else name for name in names]
        return [constraint.model_copy(update={"value": stored})]
    keys = [nodes[name].entity_key for name in names if name in nodes]
    value = keys if constraint.type is ConstraintType.NOT_IN else keys[0]
    exact = [name for name in names if name not in nodes]
    rest = [constraint.model_copy(update={"value": exact})] if exact else []
    return [constraint.model_copy(update={"property_path": "entity_key", "value": value}), *rest]


def _with_types(constraint: Constraint, types: Mapping[str, Sequence[str]]) -> Constraint:
    """The constraint with free types as they are stored."""
    given = list(dict.fromkeys(_free_types(constraint)))
    stored = list(dict.fromkeys(spelling for name in given for spelling in types.get(name, [name])))
    if stored == given:
        return constraint
    kind = constraint.type if constraint.type in LIST_TYPES else ConstraintType.PROPERTY_IN
    return constraint.model_copy(update={"type": kind, "value": stored})
