"""How far a source is read, kept on its node so that another run can go on."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from langchain_core.messages import BaseMessage, messages_from_dict, messages_to_dict
from pydantic import BaseModel, ConfigDict, ValidationError

from kgagent.errors import ConflictError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.node_merge import merged_ingestions
from kgagent.graph.statements import statement
from kgagent.graph.store import Store

PartState = Literal["unread", "read", "given_up", "refused"]


class Progress(BaseModel):
    """How far a source is read.

    Attributes:
        part_tokens: by which it was cut; a later run cuts it in the same way.
        parts: what became of each part.
        refusals: why the parts were refused that were, by position.
    """

    model_config = ConfigDict(frozen=True)

    part_tokens: int
    parts: tuple[PartState, ...]
    refusals: dict[int, str] = {}

    @property
    def is_complete(self) -> bool:
        """Whether every part is read."""
        return all(state == "read" for state in self.parts)

    @property
    def is_over(self) -> bool:
        """Whether every part is read, or is of no use to try again."""
        return all(state in {"read", "refused"} for state in self.parts)

    @property
    def read(self) -> int:
        """How many parts are."""
        return self.parts.count("read")

    def with_part(self, position: int, state: PartState, refusal: str = "") -> Self:
        """After a part was read, given up, or refused for some reason."""
        parts = (*self.parts[:position], state, *self.parts[position + 1 :])
        refusals = {**self.refusals, position: refusal} if refusal else self.refusals
        return self.model_copy(update={"parts": parts, "refusals": refusals})


@dataclass(frozen=True)
class Transcript:
    """What model and tools have said of one part so far."""

    position: int
    messages: tuple[BaseMessage, ...]


class Ledger:
    """The progress of one run on one source of one user."""

    def __init__(self, store: Store, *, label: str, user_id: str, entity_key: str) -> None:
        self._store = store
        self._label = Identifier(label)
        self._node = {"user_id": user_id, "entity_key": entity_key}
        self._run = str(uuid.uuid4())

    async def read(self) -> tuple[bool, Progress | None]:
        """Whether the source has a node, and how far it is read.

        Raises:
            StoreError: the database failed.
        """
        rows = await self._store.read(statement("read_ingestion", label=self._label), self._node)
        return bool(rows), _progress(rows[0]["progress"]) if rows else None

    async def read_merged(self) -> tuple[str, Progress] | None:
        """Where the source's node was merged into another: the key of that one, and how far the source was read.

        Raises:
            StoreError: the database failed.
        """
        rows = await self._store.read(statement("read_merged_ingestion", label=self._label), self._node)
        for row in rows:
            if progress := _progress(merged_ingestions(row["merged"]).get(self._node["entity_key"])):
                return row["entity_key"], progress
        return None

    async def claim(self) -> tuple[Progress | None, Transcript | None]:
        """Become the run that reads the source, and learn where the one before it was.

        Raises:
            StoreError: the database failed.
        """
        rows = await self._store.write(
            statement("claim_ingestion", label=self._label), {**self._node, "run": self._run}
        )
        if not rows:
            return None, None
        return _progress(rows[0]["progress"]), _transcript(rows[0]["messages"])

    async def save(self, progress: Progress, transcript: Transcript | None = None, *, ends: bool = False) -> None:
        """Keep the progress.

        Args:
            progress: how far the source is read.
            transcript: of the part that is being read; None between parts.
            ends: whether the run lets go of the source.

        Raises:
            ConflictError: another run reads the source now.
            StoreError: the database failed.
        """
        kept = await self._store.write(
            statement("save_ingestion", label=self._label),
            {
                **self._node,
                "run": self._run,
                "next_run": None if ends else self._run,
                "progress": progress.model_dump_json(),
                "messages": None if transcript is None else _dumped(transcript.position, transcript.messages),
            },
        )
        if not kept:
            raise ConflictError("Another run reads this source now, or its node is gone")


def _dumped(position: int, messages: Sequence[BaseMessage]) -> str:
    # Half of a surrogate pair, as in an emoji that a model broke off, can be stored only where it is escaped.
    return json.dumps({"part": position, "messages": messages_to_dict(messages)}, default=str)


def _progress(stored: object) -> Progress | None:
    """Read it; what cannot be read counts as none, and the source is read anew."""
    if not isinstance(stored, str):
        return None
    try:
        return Progress.model_validate_json(stored)
    except ValidationError:
        return None


def _transcript(stored: object) -> Transcript | None:
    if not isinstance(stored, str):
        return None
    try:
        decoded = json.loads(stored)
        return Transcript(int(decoded["part"]), tuple(messages_from_dict(decoded["messages"])))
    except (ValueError, KeyError, TypeError):
        return None
