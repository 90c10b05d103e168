"""References in arguments: names, the first characters of keys, or "me" instead of the keys of nodes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.graph.reference_forms import ReferenceForms, is_generated_key
from kgagent.models.pattern_query import ResolutionTarget
from kgagent.ontology import Ontology
from kgagent.tools.context import ToolContext


@dataclass(frozen=True)
class ResolvedReferences:
    """What the references of a call mean; keys mean themselves.

    Attributes:
        keys: for each reference that is no key, the key of its node, or the error.
        notices: for each reference that is not exactly a name, which node it means.
    """

    keys: Mapping[str, str | InputError] = field(default_factory=dict)
    notices: Mapping[str, str] = field(default_factory=dict)

    def key(self, reference: str) -> str:
        """The key of a node; the reference itself if it means none.

        Raises:
            InputError: the reference is ambiguous.
        """
        key = self.keys.get(reference, reference)
        if isinstance(key, NodeNotFoundError):
            return reference
        if isinstance(key, InputError):
            raise key
        return key

    def ends(self, *references: str) -> list[str]:
        """The keys of the two nodes of a relationship.

        Raises:
            NodeNotFoundError: a node does not exist.
            InputError: a reference is ambiguous.
        """
        keys = [self.key(reference) for reference in references]
        missing = [reference for reference in references if isinstance(self.keys.get(reference), InputError)]
        if missing:
            shown = ", ".join(dict.fromkeys(missing))
            raise NodeNotFoundError(f"One or both nodes do not exist: {shown}", self.hint(missing))
        return keys

    def hint(self, references: Iterable[str]) -> str:
        """The nodes with the nearest names of references that mean no node."""
        errors = (self.keys.get(reference) for reference in references)
        hints = (error.hint for error in errors if isinstance(error, NodeNotFoundError) and error.hint)
        return ". ".join(dict.fromkeys(hints))

    def notices_of(self, references: Iterable[str]) -> list[str]:
        """Which nodes references mean that are not exactly names."""
        return [self.notices[name] for name in dict.fromkeys(references) if name in self.notices]


async def resolve(context: ToolContext, references: Iterable[str], *, exactly: bool = False) -> ResolvedReferences:
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
    loose = await context.references.resolve_loosely(context.user_id, asked)
    return ResolvedReferences(loose.keys, loose.notices)


async def resolved_targets(context: ToolContext, targets: Sequence[ResolutionTarget]) -> tuple[ResolutionTarget, ...]:
    """Give targets the keys of the nodes that they mean.

    A description is replaced only if it means the owner or is the beginning of a key: what it is otherwise, the query
    decides. A target that refers to no node stays as it is.

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
