"""Checks the sources that notes name."""

from collections.abc import Iterable

from kgagent.doctor.diagnosis import Finding
from kgagent.formatting import beginning, counted
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.statements import statement
from kgagent.models import Note

MAX_SOURCES = 10_000
"""Number of different sources that are checked."""

BATCH = 1_000
MAX_KEY = 80
FIX = "No change is needed: the sources of these notes do not exist; create a node with that key if one is wanted"


class NoteSources:
    """Collects the sources that notes name, and finds those that the notes' users do not have."""

    def __init__(self, nodes: NodeRepository) -> None:
        self._nodes = nodes
        self._examples: dict[tuple[str, str], str] = {}

    def add(self, user_id: str, notes: Iterable[Note], example: object) -> None:
        """Add the notes of one record."""
        for key in {note.source_entity_key for note in notes if note.source_entity_key}:
            if len(self._examples) < MAX_SOURCES:
                self._examples.setdefault((user_id, key), str(example))

    async def findings(self) -> list[Finding]:
        """One finding if sources are missing.

        Raises:
            StoreError: the database failed.
        """
        sources = list(self._examples)
        missing: list[tuple[str, str]] = []
        for start in range(0, len(sources), BATCH):
            batch = sources[start : start + BATCH]
            rows = await self._nodes.store.read(
                statement("find_missing_sources", **self._nodes.names),
                {"sources": [{"user_id": user_id, "entity_key": key} for user_id, key in batch]},
            )
            missing += [batch[row["position"]] for row in rows]
        if not missing:
            return []
        key = beginning(missing[0][1], MAX_KEY)
        message = (
            f"Notes name {counted(len(missing), 'source')} that their user does not have, such as {key!r} in "
            f"{self._examples[missing[0]]}"
        )
        return [Finding("info", message, FIX)]
