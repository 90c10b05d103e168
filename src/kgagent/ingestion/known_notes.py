"""What is kept of a source already, for a model that reads it again to know."""

from kgagent.graph.node_merge import stored_form
from kgagent.graph.statements import statement
from kgagent.knowledge_graph import KnowledgeGraph, services_of
from kgagent.models.llm_context import estimated_tokens
from kgagent.models.note import parse_notes

MAX_RECORDS = 200
"""Nodes and relationships whose notes are looked through."""

MAX_TOKENS = 1_000
"""Estimated tokens of the notes that are told."""


async def known_notes(graph: KnowledgeGraph, *, user_id: str, source_entity_key: str) -> tuple[str, ...]:
    """Read what current notes say that name a source, as many as there is room for, the newest first.

    Raises:
        StoreError: the database failed.
    """
    rows = await services_of(graph).store.read(
        statement("read_notes_of_source", **services_of(graph).relationships.names),
        {"user_id": user_id, "text": stored_form(source_entity_key), "limit": MAX_RECORDS},
    )
    now = services_of(graph).write_context.clock()
    notes = [note for row in rows for note in parse_notes(row["notes"])]
    own = [note for note in notes if note.source_entity_key == source_entity_key and note.is_current(now)]
    own.sort(key=lambda note: (note.date_added.timestamp() if note.date_added else 0.0, note.content), reverse=True)
    told, left = [], MAX_TOKENS
    for content in dict.fromkeys(" ".join(note.content.split()) for note in own):
        if (size := estimated_tokens(content)) <= left:
            left -= size
            told.append(content)
    return tuple(told)
