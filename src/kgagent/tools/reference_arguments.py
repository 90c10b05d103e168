"""References in arguments: names, the first characters of keys, or "me" instead of the keys of
nodes.
"""

from collections.abc import Iterable, Sequence

from kgagent.graph.node_references import ResolvedReferences
from kgagent.graph.reference_forms import ReferenceForms, is_generated_key
from kgagent.models.pattern_query import ResolutionTarget
from kgagent.ontology import Ontology
from kgagent.tools.context import ToolContext


async def resolve(
    context: ToolContext, references: Iterable[str], *, exactly: bool = False
) -> ResolvedReferences:
    """Find the nodes that references mean, in one statement; keys need none.

    Args:
        context: the user's graph.
        references: entity keys, beginnings of entity keys, names, "me".
        exactly: whether parts of names and names without accents mean no node.

    Raises:
        StoreError: the database failed.
    """
    asked = [reference for reference in references if not is_generated_key(reference)]
    if not asked:
        return ResolvedReferences()
    if exactly:
        return ResolvedReferences(await context.references.resolve_each(context.user_id, asked))
    return await context.references.resolve_loosely(context.user_id, asked)


async def resolved_targets(
    context: ToolContext, targets: Sequence[ResolutionTarget]
) -> tuple[ResolutionTarget, ...]:
    """Give targets the keys of the nodes that they mean.

    A description is replaced only if it means the owner or is the beginning of a key: what it is
    otherwise, the query decides. A target that refers to no node stays as it is.

    Raises:
        InputError: an `entity_key` is ambiguous.
    """
    references = [_reference_of(target, context.ontology) for target in targets]
    resolved = await resolve(context, filter(None, references), exactly=True)
    keys = (None if reference is None else resolved.key(reference) for reference in references)
    return tuple(
        target.model_copy(update={"entity_key": key}) if key not in {None, reference} else target
        for target, reference, key in zip(targets, references, keys, strict=True)
    )


def _reference_of(target: ResolutionTarget, ontology: Ontology) -> str | None:
    """The text of a target that may be a reference; None if the query finds the node itself."""
    if target.entity_key is not None:
        return target.entity_key
    forms = ReferenceForms.of(target.description)
    is_owner = forms is not None and forms.is_owner and target.label in {None, ontology.owner_label}
    return target.description if is_owner or (forms is not None and forms.prefixes) else None
