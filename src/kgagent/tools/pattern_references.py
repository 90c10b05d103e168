"""Names and free types in constraints of a pattern query: what they mean, and the nearest ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgagent.errors import NodeNotFoundError
from kgagent.formatting import counted
from kgagent.graph.reference_forms import ReferenceForms, is_generated_key
from kgagent.graph.references import ReferencedNode
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
        query: the query with the nodes, and the spellings of the types, that are meant.
        notices: which nodes are meant, such as "Bobby → Robert Hofmann (Person, 4f7d2d9f)".
        problems: names that no node has, and types that no relationship has.
        ambiguous: names that several nodes have, which may explain that no path matches.
    """

    query: GraphQuery
    notices: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()


async def resolve_values(context: ToolContext, query: GraphQuery) -> ResolvedValues:
    """Find what constraints mean: nodes by an alias, a part of a name or "me", and free types in
    other spellings.

    The exact name of a node, and a stored type, are meant as they are. So is everything in a graph
    that has nodes or relationships outside the ontology, whose names are not known.

    Raises:
        StoreError: the database failed.
    """
    constraints = [
        constraint
        for pattern in query.all_patterns
        for of_part in (pattern.constraints, *(branch.constraints for branch in pattern.branches))
        for constraint in of_part
    ]
    names = list(dict.fromkeys(name for constraint in constraints for name in _names(constraint)))
    types = list(
        dict.fromkeys(name for constraint in constraints for name in _free_types(constraint))
    )
    is_asked = bool(names or types) and len(names) <= MAX_NAMES
    if not is_asked or not await _is_of_ontology(context):
        return ResolvedValues(query)
    stored_types, unknown_types = await spellings(
        context.relationships.store, context.user_id, types
    )
    if query.as_of:
        # Types of another time are only in histories.
        stored_types = {name: [*of_name, name] for name, of_name in stored_types.items()}
        unknown_types = ()
    resolved = await context.resolver.find(context.user_id, names)
    found = {name: resolved.one_node(name) for name in names}
    nodes = {
        name: node
        for name, node in found.items()
        if node is not None
        and node.name not in {"", name}
        and not _is_title_of_owner(name, context.ontology)
    }
    notices = [
        next(iter(resolved.notices([name])), f"{name} → {node.name}")
        for name, node in nodes.items()
        if normalised_name(name) not in context.ontology.owner_words
    ]
    notices += [
        f"{name} → {', '.join(stored)}"
        for name, stored in stored_types.items()
        if set(stored) != {name}
    ]
    errors = {name: resolved.outcome(name) for name, node in found.items() if node is None}
    missing = [
        ". ".join(filter(None, (f"No node is named {shorten_name(name)!r}", error.hint)))
        for name, error in errors.items()
        if isinstance(error, NodeNotFoundError)
    ]
    if len(missing) > MAX_EXPLAINED:
        others = counted(len(missing) - MAX_EXPLAINED, "other name")
        missing = [*missing[:MAX_EXPLAINED], f"{others} mean no node"]
    return ResolvedValues(
        _replaced(query, nodes, stored_types),
        tuple(notices),
        (*missing, *unknown_types),
        tuple(str(error) for error in errors.values() if not isinstance(error, NodeNotFoundError)),
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
    query: GraphQuery, nodes: Mapping[str, ReferencedNode], types: Mapping[str, Sequence[str]]
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


def _with_nodes(constraint: Constraint, nodes: Mapping[str, ReferencedNode]) -> list[Constraint]:
    """The constraint on the nodes that are meant.

    By key, except in a list of nodes of which one is required: there may be several of a name that
    is exactly one, and they have no single key. Names to exclude get a second constraint for that
    reason.
    """
    names = _names(constraint)
    if nodes.keys().isdisjoint(names):
        return [constraint]
    if constraint.type is ConstraintType.PROPERTY_IN:
        stored = [nodes[name].name if name in nodes else name for name in names]
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
