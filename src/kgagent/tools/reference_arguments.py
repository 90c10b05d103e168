"""Arguments that refer to nodes by a name, the first characters of a key, or "me" instead of the key."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.graph.node_references import LooseResolution
from kgagent.graph.reference_forms import ReferenceForms, is_generated_key
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models.pattern_query import ResolutionTarget
from kgagent.ontology import Ontology
from kgagent.tools.context import ToolContext

if TYPE_CHECKING:
    from kgagent.tools.base import Tool

ArgumentsT = TypeVar("ArgumentsT", bound=BaseModel)

KEY_SUFFIX = "entity_key"
SOURCE_KEY = "source_entity_key"
"""The only argument with that suffix that need not name an existing node."""


@dataclass(frozen=True)
class ResolvedArguments(Generic[ArgumentsT]):
    """Arguments with the keys of the nodes that they mean.

    Attributes:
        arguments: the arguments; a reference to no node stays as it was given.
        notices: which nodes those references mean that are not exactly a name.
        hint: the nodes with the nearest names, if a reference means no node.
    """

    arguments: ArgumentsT
    notices: tuple[str, ...] = ()
    hint: str = ""


async def resolved_arguments(
    tool: "Tool[ArgumentsT]", context: ToolContext, arguments: ArgumentsT
) -> ResolvedArguments[ArgumentsT]:
    """Replace references by the keys of the nodes that they mean, in one statement; keys need none.

    Raises:
        InputError: a reference is ambiguous.
        StoreError: the database failed.
    """
    fields = (name for name in type(arguments).model_fields if name.endswith(KEY_SUFFIX) and name != SOURCE_KEY)
    given = {name: value for name in fields if isinstance(value := getattr(arguments, name), str)}
    asked = [value for value in given.values() if not is_generated_key(value)]
    if not asked or not tool.resolves_references:
        return ResolvedArguments(arguments)
    keys, notices = await _resolved(tool, context, asked)
    _reject_ambiguous(keys.values())
    update = {name: key for name, reference in given.items() if isinstance(key := keys.get(reference), str)}
    # The answer of a tool that reads has a token budget, and names the node itself.
    shown = () if tool.read_only else tuple(notices.values())
    return ResolvedArguments(arguments.model_copy(update=update), shown, _hints(keys.values()))


async def _resolved(
    tool: "Tool[Any]", context: ToolContext, references: Iterable[str]
) -> tuple[Mapping[str, str | InputError], Mapping[str, str]]:
    """The keys of references, and which nodes those mean that are not exactly a name."""
    if tool.needs_exact_references:
        return await context.references.resolve_each(context.user_id, references), {}
    loose = await context.references.resolve_loosely(context.user_id, references)
    return loose.keys, loose.all_notices


async def resolved_targets(context: ToolContext, targets: Sequence[ResolutionTarget]) -> tuple[ResolutionTarget, ...]:
    """Give targets the keys of the nodes that they mean.

    A description is replaced only if it means the owner or is the beginning of a key: what it is otherwise, the query
    decides. A target that refers to no node stays as it is.

    Raises:
        InputError: an `entity_key` is ambiguous.
    """
    references = [_reference_of(target, context.ontology) for target in targets]
    asked = [reference for reference in references if reference is not None]
    resolved = await context.references.resolve_each(context.user_id, asked) if asked else {}
    _reject_ambiguous(resolved.values())
    keys = (None if reference is None else resolved[reference] for reference in references)
    return tuple(
        target.model_copy(update={"entity_key": key}) if isinstance(key, str) else target
        for target, key in zip(targets, keys, strict=True)
    )


def _reference_of(target: ResolutionTarget, ontology: Ontology) -> str | None:
    """The text of a target that may be a reference; None if the query finds the node itself."""
    if target.entity_key is not None:
        return target.entity_key
    forms = ReferenceForms.of(target.description)
    is_owner = forms is not None and forms.is_owner and target.label in {None, ontology.owner_label}
    return target.description if is_owner or (forms is not None and forms.prefixes) else None


@dataclass(frozen=True)
class ResolvedIntent:
    """A write with the keys of its nodes; `notices` say which nodes are meant that are not exactly named."""

    intent: RelationshipIntent
    notices: tuple[str, ...] = ()


async def resolved_intents(
    context: ToolContext, intents: Mapping[int, RelationshipIntent]
) -> dict[int, ResolvedIntent | InputError]:
    """Replace the references of writes by the keys of the nodes that they mean, in one statement; keys need none.

    Args:
        context: the user's graph.
        intents: the writes, by their position in a batch.

    Returns:
        For each position the write with keys, or why there is none.
    """
    pairs = {position: (intent.from_entity_key, intent.to_entity_key) for position, intent in intents.items()}
    asked = [reference for pair in pairs.values() for reference in pair if not is_generated_key(reference)]
    if not asked:
        return {position: ResolvedIntent(intent) for position, intent in intents.items()}
    loose = await context.references.resolve_loosely(context.user_id, asked)
    return {position: _with_keys(intent, pairs[position], loose) for position, intent in intents.items()}


def _with_keys(intent: RelationshipIntent, given: Sequence[str], loose: LooseResolution) -> ResolvedIntent | InputError:
    ends = [loose.keys.get(end, end) for end in given]
    try:
        _reject_ambiguous(ends)
    except InputError as error:
        return error
    missing = [reference for reference, end in zip(given, ends, strict=True) if not isinstance(end, str)]
    if missing:
        return NodeNotFoundError(f"One or both nodes do not exist: {', '.join(dict.fromkeys(missing))}", _hints(ends))
    first, second = map(str, ends)
    notices = loose.all_notices
    return ResolvedIntent(
        replace(intent, from_entity_key=first, to_entity_key=second),
        tuple(notices[end] for end in given if end in notices),
    )


def _reject_ambiguous(resolved: Iterable[str | InputError]) -> None:
    for found in resolved:
        if isinstance(found, InputError) and not isinstance(found, NodeNotFoundError):
            raise found


def _hints(resolved: Iterable[str | InputError]) -> str:
    return ". ".join(
        dict.fromkeys(found.hint for found in resolved if isinstance(found, NodeNotFoundError) and found.hint)
    )
