"""Notes of deleted relationships, which new relationships between the same nodes do not have."""

from collections.abc import Mapping
from typing import TypeVar

from kgagent.errors import StoreError
from kgagent.formatting import beginning, counted, in_one_line
from kgagent.graph.deleted_records import DELETED_NAMES, format_minute
from kgagent.graph.relationships import RelationshipWriteResult, relationship_key
from kgagent.graph.statements import statement
from kgagent.models.note import parse_notes
from kgagent.tools.context import ToolContext

MAX_LISTED = 3
MAX_CONTENT = 80

KeyT = TypeVar("KeyT")


async def deleted_notes(context: ToolContext, written: Mapping[KeyT, RelationshipWriteResult]) -> dict[KeyT, str]:
    """Say for each relationship that was created which notes a deleted one between its nodes has; one line each."""
    created = {
        place: relationship_key(one.record.neo4j_type, one.record.from_entity_key, one.record.to_entity_key)
        for place, one in written.items()
        if one.created
    }
    if not created:
        return {}
    now = context.write_context.clock()
    parameters = {"user_id": context.user_id, "keys": list(created.values()), "now": now}
    try:
        rows = await context.relationships.store.read(statement("find_deleted_notes", **DELETED_NAMES), parameters)
    except StoreError:
        # The write succeeded.
        return {}
    latest = {row["key"]: row for row in reversed(rows)}
    hints: dict[KeyT, str] = {}
    for place, key in created.items():
        notes = parse_notes(latest[key]["notes"]) if key in latest else ()
        if notes:
            deleted_at = format_minute(latest[key]["deleted_at"].to_native())
            shown = [repr(beginning(in_one_line(note.content), MAX_CONTENT)) for note in notes[:MAX_LISTED]]
            more = [f"{len(notes) - MAX_LISTED} more"] if len(notes) > MAX_LISTED else []
            known = f"{counted(len(notes), 'note')}, which the new one lacks: {', '.join((*shown, *more))}"
            triplet = written[place].record.triplet
            deleted = f"a relationship between the two that was deleted on {deleted_at}"
            hints[place] = f"{triplet}: {deleted} has {known}. {_remedy(context)}"
    return hints


def _remedy(context: ToolContext) -> str:
    if context.offers("restore_relationship"):
        return "Add them again; or delete the new one, and call restore_relationship with skip=1"
    return "Add them again if they still hold"
