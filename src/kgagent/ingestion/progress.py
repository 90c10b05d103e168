"""How far a source has been read; stored on its node, so that another run resumes there."""

import uuid
from dataclasses import dataclass
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from kgagent.errors import ConflictError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.statements import statement
from kgagent.graph.store import Store


class Progress(BaseModel):
    """How far a source has been read.

    Attributes:
        part_tokens: maximum size of the parts; a later run splits in the same way, so that parts
            whose text is unchanged are recognized.
        read: fingerprints of the parts that were read, of all versions of the source.
    """

    model_config = ConfigDict(frozen=True)

    part_tokens: int
    read: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, stored: object, *, part_tokens: int) -> Self:
        """Parse what is stored; if it is invalid, nothing has been read."""
        try:
            return cls.model_validate_json(str(stored))
        except ValidationError:
            return cls(part_tokens=part_tokens)


@dataclass(frozen=True)
class StoredSource:
    """The node of a source.

    Attributes:
        entity_key: key of the node.
        fingerprint: fingerprint of the version that a run started to read.
        progress: how far it has been read.
    """

    entity_key: str
    fingerprint: str
    progress: Progress


class ProgressStore:
    """Reads and writes the progress of one run on one source."""

    def __init__(self, store: Store, *, label: str, user_id: str, part_tokens: int) -> None:
        self._store = store
        self._label = Identifier(label)
        self._user_id = user_id
        self._part_tokens = part_tokens
        self._run = str(uuid.uuid4())

    async def find(self, entity_key: str, fingerprint: str) -> StoredSource | None:
        """Find the node of a source by its key, or else by its content.

        Raises:
            StoreError: the database failed.
        """
        rows = await self._store.read(
            statement("find_ingestions", label=self._label),
            {"user_id": self._user_id, "entity_key": entity_key, "fingerprint": fingerprint},
        )
        if not rows:
            return None
        return StoredSource(
            rows[0]["entity_key"],
            str(rows[0]["fingerprint"]),
            Progress.parse(rows[0]["progress"], part_tokens=self._part_tokens),
        )

    async def claim(self, entity_key: str) -> Progress:
        """Become the run that reads the source, and return what earlier runs have read.

        Raises:
            StoreError: the database failed.
        """
        rows = await self._store.write(
            statement("claim_ingestion", label=self._label),
            {"user_id": self._user_id, "entity_key": entity_key, "run": self._run},
        )
        stored = rows[0]["progress"] if rows else None
        return Progress.parse(stored, part_tokens=self._part_tokens)

    async def save(self, entity_key: str, progress: Progress, *, releases: bool = False) -> None:
        """Store the progress.

        Args:
            entity_key: key of the source's node.
            progress: how far the source is read.
            releases: whether the run releases its claim.

        Raises:
            ConflictError: another run claimed the source.
            StoreError: the database failed.
        """
        saved = await self._store.write(
            statement("save_ingestion", label=self._label),
            {
                "user_id": self._user_id,
                "entity_key": entity_key,
                "run": self._run,
                "next_run": None if releases else self._run,
                "progress": progress.model_dump_json(),
            },
        )
        if not saved:
            raise ConflictError("Another run is reading this source, or its node was deleted")
