"""Writing several relationships in one call, as create_relationships and update_relationships do."""

from collections.abc import Sequence

from kgagent.errors import InputError, KgAgentError
from kgagent.formatting import counted, in_one_line
from kgagent.graph.compare_and_set import compare_and_set
from kgagent.graph.relationships import RelationshipIntent, RelationshipStrategy, RelationshipWriteResult
from kgagent.models import GraphRelationship
from kgagent.models.graph import GraphModel
from kgagent.ontology import Ontology
from kgagent.tools.context import ToolContext
from kgagent.tools.create_relationship import NewRelationship
from kgagent.tools.note_expiry import NoteExpiry, new_expiries
from kgagent.tools.payload import Payload, error_text, one_line
from kgagent.tools.reference_arguments import ResolvedIntent, resolved_intents
from kgagent.tools.relationship_direction import update_options
from kgagent.tools.relationship_results import describe_direction, kept_description, replaced_in_words, replaced_text
from kgagent.tools.update_relationship import RelationshipChange
from kgagent.tools.write_results import WriteToolResult, fit_records

MAX_LISTED = 20
"""Number of rejected positions that the message lists."""


class BatchItem(GraphModel):
    """One relationship of a batch: a `WrittenRelationship`, or the error that rejected it."""

    success: bool
    error: str | None = None
    message: str | None = None
    embedding_regenerated: bool | None = None
    triplet: str | None = None
    relationship: GraphRelationship | None = None
    note_expiries: tuple[NoteExpiry, ...] | None = None


class BatchResult(WriteToolResult):
    """Several relationships, in the order of the arguments."""

    results: tuple[BatchItem, ...]

    def short_text(self) -> str:
        """The counts, and a line for each relationship that was rejected or needs attention."""
        lines = [self.message]
        for position, item in enumerate(self.results):
            parts = (item.error, item.message, *map(str, item.note_expiries or ()))
            lines += [f"{position}: {in_one_line(part)}" for part in parts if part]
        return "\n".join(lines)

    def to_dict(self) -> Payload:
        """As JSON types, within the token budget."""
        payload = super().to_dict()
        fit_records(payload["results"], "relationship")
        return payload

    @property
    def error(self) -> str | None:
        """The first error, if every relationship was rejected."""
        if any(item.success for item in self.results):
            return None
        return f"{self.message}: {self.results[0].error}"


async def write_batch(
    context: ToolContext, items: Sequence[NewRelationship | RelationshipChange], verb: str
) -> BatchResult:
    """Write several relationships with one batch of embeddings; each is written or rejected on its own.

    Args:
        context: the user's graph.
        items: the relationships.
        verb: what happens to a relationship, for the message: "Created".
    """
    now = context.write_context.clock()
    intents: dict[int, RelationshipIntent] = {}
    results: dict[int, BatchItem] = {}
    for position, item in enumerate(items):
        try:
            intents[position] = item.intent(context, now)
        except InputError as error:
            results[position] = _rejected(error)
    strategy = RelationshipStrategy(
        context.relationships,
        context.write_context,
        user_id=context.user_id,
        options=update_options(context.ontology),
    )
    resolved = await resolved_intents(context, intents)
    meant = {position: found for position, found in resolved.items() if isinstance(found, ResolvedIntent)}
    written_intents = [found.intent for found in meant.values()]
    outcomes: dict[int, RelationshipWriteResult | KgAgentError] = {
        position: found for position, found in resolved.items() if isinstance(found, InputError)
    }
    written_ones = await compare_and_set(strategy, written_intents, attempts=context.write_context.attempts)
    outcomes |= dict(zip(meant, written_ones, strict=True))
    for position, outcome in outcomes.items():
        results[position] = (
            _rejected(outcome)
            if isinstance(outcome, KgAgentError)
            else BatchItem(
                success=True,
                message=_item_message(outcome, items[position], context.ontology, meant[position].notices),
                embedding_regenerated=outcome.embedded,
                triplet=outcome.record.triplet,
                relationship=outcome.record,
                note_expiries=new_expiries(outcome) or None,
            )
        )
    ordered = tuple(results[position] for position in range(len(items)))
    rejected = [position for position, item in enumerate(ordered) if not item.success]
    message = f"{verb} {len(ordered) - len(rejected)} of {counted(len(items), 'relationship')}"
    if 0 < len(rejected) < len(ordered):
        message += f"; rejected, by position from 0: {_first_few(rejected)}"
    written = tuple(item.relationship for item in ordered if item.relationship is not None)
    return BatchResult(message=message, results=ordered, written=written)


def _first_few(positions: Sequence[int]) -> str:
    more = f" and {len(positions) - MAX_LISTED} more" if len(positions) > MAX_LISTED else ""
    return ", ".join(map(str, positions[:MAX_LISTED])) + more


def _item_message(
    written: RelationshipWriteResult,
    item: NewRelationship | RelationshipChange,
    ontology: Ontology,
    notices: Sequence[str],
) -> str | None:
    direction = describe_direction(written.record)
    replaced = replaced_text(replaced_in_words(written, ontology))
    hint = None if item.description is not None else kept_description(written)
    return ". ".join(filter(None, (direction, *written.warnings, replaced, hint, *notices))) or None


def _rejected(error: KgAgentError) -> BatchItem:
    return BatchItem(success=False, error=one_line(error_text(error)))
