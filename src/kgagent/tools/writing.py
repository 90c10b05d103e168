"""What tools write: nodes, relationships and edits of notes, all of one call together."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import cast

from kgagent.errors import InputError, KgAgentError
from kgagent.graph.compare_and_set import compare_and_set
from kgagent.graph.graph_writes import (
    GraphStrategy,
    GraphWriteResult,
    NodeWriteResult,
    RelationshipWriteResult,
)
from kgagent.graph.nodes import NodeIntent
from kgagent.graph.pair_state import End
from kgagent.graph.reference_forms import is_generated_key
from kgagent.graph.relationships import RelationshipIntent
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.writes import WriteOptions
from kgagent.tools.context import ToolContext

Write = NodeIntent | RelationshipIntent


async def write(
    context: ToolContext,
    writes: Sequence[Write],
    *,
    new: Collection[str] = (),
    stored: Mapping[str, End] = MappingProxyType({}),
    source_entity_key: str | None = None,
    said_on: str | None = None,
    dry_run: bool = False,
) -> list[GraphWriteResult | KgAgentError]:
    """Write nodes and relationships with one request for embeddings; each is written or rejected
    independently.

    Args:
        context: the user's graph.
        writes: what to write.
        new: keys of nodes that do not exist yet, as was read for this call.
        stored: nodes that were read for this call, by their keys.
        source_entity_key: what they come from, for the histories; None for the source of the
            context.
        said_on: date of the conversation that they come from, in EDTF, for the histories.
        dry_run: whether nothing is written.

    Returns:
        For each write, in order, its result or the error.
    """
    known = {context.source_entity_key, *new, *stored}
    accepted = await _with_full_source_keys(context, writes, known)
    source = context.source_entity_key or source_entity_key
    strategy = GraphStrategy(
        UserGraph(context.nodes, context.relationships, context.write_context, context.user_id),
        WriteOptions(dry_run=dry_run, source_entity_key=source, said_on=said_on),
        new=new,
        stored=stored,
    )
    intents: list[Write] = [one for one in accepted if not isinstance(one, InputError)]
    written = iter(
        await compare_and_set(strategy, intents, attempts=context.write_context.attempts)
    )
    outcomes = [one if isinstance(one, InputError) else next(written) for one in accepted]
    return cast("list[GraphWriteResult | KgAgentError]", outcomes)


async def _with_full_source_keys(
    context: ToolContext, writes: Sequence[Write], known: Collection[str | None]
) -> list[Write | InputError]:
    """The writes, with the keys of the nodes that the sources of their notes mean; the error of one
    whose source is a key of no node.

    A source that means no single node is a text, which is stored as given.
    """
    given = {note.source_entity_key for one in writes for note in one.notes}
    unknown = [source for source in given if source and source not in known]
    if not unknown:
        return list(writes)
    references = await context.resolver.find(context.user_id, names=unknown)
    meant = {source: references.outcome(source) for source in unknown}
    keys = {source: key for source, key in meant.items() if isinstance(key, str)}
    missing = {source for source in unknown if is_generated_key(source)} - keys.keys()

    def accepted(one: Write) -> Write | InputError:
        sources = [note.source_entity_key or "" for note in one.notes]
        if wrong := next((source for source in sources if source in missing), None):
            return InputError(
                f"No node has the key {wrong}, the source of a note. Give the key of a node, or a "
                f"text"
            )
        notes = (
            note.model_copy(update={"source_entity_key": keys[source]}) if source in keys else note
            for note, source in zip(one.notes, sources, strict=True)
        )
        return replace(one, notes=tuple(notes))

    return [accepted(one) for one in writes]


async def write_one(context: ToolContext, one: Write, *, dry_run: bool = False) -> GraphWriteResult:
    """Write one node or relationship.

    Raises:
        KgAgentError: it could not be written.
    """
    [outcome] = await write(context, [one], dry_run=dry_run)
    if isinstance(outcome, KgAgentError):
        raise outcome
    return outcome


async def write_node(context: ToolContext, node: NodeIntent) -> NodeWriteResult:
    """Write one node; see `write_one`."""
    return cast("NodeWriteResult", await write_one(context, node))


async def write_relationship(
    context: ToolContext, relationship: RelationshipIntent
) -> RelationshipWriteResult:
    """Write one relationship; see `write_one`."""
    return cast("RelationshipWriteResult", await write_one(context, relationship))
