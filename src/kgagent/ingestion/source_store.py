"""What the database holds about a source: its node, the progress of reading it, and the notes that
name it.
"""

import uuid
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from kgagent.answers.token_budget import estimated_tokens
from kgagent.errors import ConflictError
from kgagent.formatting import in_one_line
from kgagent.graph.identifiers import Identifier
from kgagent.graph.statements import statement
from kgagent.graph.store import Row, Store
from kgagent.models.merged_notes import stored_form
from kgagent.models.note import parse_notes
from kgagent.services import GraphServices

MAX_NOTE_RECORDS = 200
"""Maximum number of nodes and relationships that are searched for notes of a source."""

MAX_NOTE_TOKENS = 1_000
"""Maximum number of estimated tokens of known notes in a prompt."""

PartState = Literal["unread", "read", "given_up"]
"""`given_up`: the next run reads the part again."""


class IngestionProgress(BaseModel):
    """How far a source has been read; stored on its node as JSON so that another run can resume.

    Attributes:
        part_tokens: maximum part size with which the source was split; a later run uses the same
            size.
        parts: state of each part.
        fingerprint: fingerprint of the version that is read.
        identity: hash of the caller's id of the source; empty if it has none.
        part_fingerprints: fingerprint of each part.
    """

    model_config = ConfigDict(frozen=True)

    part_tokens: int
    parts: tuple[PartState, ...]
    fingerprint: str
    identity: str
    part_fingerprints: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        """Whether every part is read."""
        return all(state == "read" for state in self.parts)

    @property
    def parts_read(self) -> int:
        """Number of parts that are read."""
        return self.parts.count("read")

    @classmethod
    def parse(cls, stored: object) -> Self | None:
        """Parse what is stored. None if it is invalid; the source is then read from its
        beginning.
        """
        try:
            return cls.model_validate_json(stored) if isinstance(stored, str) else None
        except ValidationError:
            return None

    def with_part(self, position: int, state: PartState) -> Self:
        """Return the progress with a new state of one part."""
        return self.model_copy(
            update={"parts": (*self.parts[:position], state, *self.parts[position + 1 :])}
        )

    def with_parts_of(self, earlier: "IngestionProgress") -> Self:
        """Return the progress in which parts are read if an earlier version had a read part with
        the same text.
        """
        parts = zip(earlier.part_fingerprints, earlier.parts, strict=True)
        read = {fingerprint for fingerprint, state in parts if state == "read"}
        states = (
            "read" if part in read else state
            for part, state in zip(self.part_fingerprints, self.parts, strict=True)
        )
        return self.model_copy(update={"parts": tuple(states)})


@dataclass(frozen=True)
class StoredSource:
    """A source that has a node.

    Attributes:
        entity_key: key of the node.
        node_fingerprint: fingerprint of the version that the node's properties describe.
        progress: how far it was read; None if a run died before it stored any progress.
    """

    entity_key: str
    node_fingerprint: str
    progress: IngestionProgress | None

    @classmethod
    def of(cls, row: Row) -> Self:
        """The source of a row."""
        fingerprint = row["fingerprint"] if isinstance(row["fingerprint"], str) else ""
        return cls(row["entity_key"], fingerprint, IngestionProgress.parse(row["progress"]))

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the version that a run started to read."""
        return self.progress.fingerprint if self.progress else self.node_fingerprint


class SourceStore:
    """Reads and writes the progress of one run on one source."""

    def __init__(self, store: Store, *, label: str, user_id: str, entity_key: str) -> None:
        self._store = store
        self._label = Identifier(label)
        self._node = {"user_id": user_id, "entity_key": entity_key}
        self._run = str(uuid.uuid4())

    async def find(self, *, fingerprint: str, identity: str) -> StoredSource | None:
        """Find the source's node by key, by identity or by content, and use that node from now on.

        Args:
            fingerprint: fingerprint of the source.
            identity: hash of the source's id; empty for none.

        Raises:
            StoreError: the database failed.
        """
        parameters = {**self._node, "fingerprint": fingerprint, "identity": identity or None}
        rows = await self._store.read(statement("find_ingestions", label=self._label), parameters)

        def preference(source: StoredSource) -> tuple[bool, bool]:
            has_identity = bool(
                identity and source.progress and source.progress.identity == identity
            )
            return source.entity_key == self._node["entity_key"], has_identity

        best = max(map(StoredSource.of, rows), key=preference, default=None)
        if best is not None:
            self._node["entity_key"] = best.entity_key
        return best

    async def claim(self) -> IngestionProgress | None:
        """Become the run that reads the source, and return what the previous run stored.

        Raises:
            StoreError: the database failed.
        """
        rows = await self._store.write(
            statement("claim_ingestion", label=self._label), {**self._node, "run": self._run}
        )
        return IngestionProgress.parse(rows[0]["progress"]) if rows else None

    async def save(self, progress: IngestionProgress, *, releases: bool = False) -> None:
        """Store the progress.

        Args:
            progress: how far the source is read.
            releases: whether the run releases its claim.

        Raises:
            ConflictError: another run claimed the source.
            StoreError: the database failed.
        """
        saved = await self._store.write(
            statement("save_ingestion", label=self._label),
            {
                **self._node,
                "run": self._run,
                "next_run": None if releases else self._run,
                "progress": progress.model_dump_json(),
            },
        )
        if not saved:
            raise ConflictError("Another run is reading this source, or its node was deleted")


async def read_known_notes(
    services: GraphServices, *, user_id: str, source_entity_key: str
) -> tuple[str, ...]:
    """Read the current notes that name a source, newest first, up to `MAX_NOTE_TOKENS`.

    Raises:
        StoreError: the database failed.
    """
    rows = await services.store.read(
        statement("read_notes_of_source", **services.relationships.names),
        {"user_id": user_id, "text": stored_form(source_entity_key), "limit": MAX_NOTE_RECORDS},
    )
    now = services.write_context.clock()
    notes = [note for row in rows for note in parse_notes(row["notes"])]
    own = [
        note
        for note in notes
        if note.source_entity_key == source_entity_key and note.is_current(now)
    ]
    own.sort(
        key=lambda note: (note.date_added.timestamp() if note.date_added else 0.0, note.content),
        reverse=True,
    )
    contents, remaining = [], MAX_NOTE_TOKENS
    for content in dict.fromkeys(in_one_line(note.content) for note in own):
        if (size := estimated_tokens(content)) <= remaining:
            remaining -= size
            contents.append(content)
    return tuple(contents)
