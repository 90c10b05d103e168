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
from kgagent.graph.store import Row, Store

PartState = Literal["unread", "read", "given_up", "refused"]


class Progress(BaseModel):
    """How far a source is read.

    Attributes:
        part_tokens: by which it was cut; a later run cuts it in the same way.
        parts: what became of each part.
        refusals: why the parts were refused that were, by position.
        fingerprint: of the version of the source that is read; empty where only its node tells.
        identity: under which its caller knows the source, as a hash; empty where it is known by what it says.
        texts: hashes of the parts; empty where an earlier release kept none.
    """

    model_config = ConfigDict(frozen=True)

    part_tokens: int
    parts: tuple[PartState, ...]
    refusals: dict[int, str] = {}
    fingerprint: str = ""
    identity: str = ""
    texts: tuple[str, ...] = ()

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

    def after(self, earlier: "Progress") -> Self:
        """As it is after an earlier version of the source was read: parts whose text stayed the same count as there."""
        told = {
            text: (state, earlier.refusals.get(position, ""))
            for position, (text, state) in enumerate(zip(earlier.texts, earlier.parts, strict=False))
            if state in {"read", "refused"}
        }
        progress = self
        for position, text in enumerate(self.texts):
            if text in told:
                progress = progress.with_part(position, *told[text])
        return progress


@dataclass(frozen=True)
class Found:
    """A source that has a node.

    Attributes:
        entity_key: of the node.
        fingerprint: of the version that was read, or begun.
        told: fingerprint of the version that the node tells of.
        progress: how far; None where a run died before it kept that.
    """

    entity_key: str
    fingerprint: str
    told: str
    progress: Progress | None


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

    @property
    def entity_key(self) -> str:
        """Of the node that the progress is kept on."""
        return self._node["entity_key"]

    async def find(self, *, fingerprint: str, identity: str) -> Found | None:
        """Find the node of the source: under its key or its identity, else one that says the same.

        On a node that says the same but has another key or identity, this ledger goes on.

        Args:
            fingerprint: of what the source says.
            identity: under which it is known, as a hash; empty for none.

        Raises:
            StoreError: the database failed.
        """
        sought = {**self._node, "fingerprint": fingerprint, "identity": identity or None}
        rows = await self._store.read(statement("find_ingestions", label=self._label), sought)
        found = [_found(row) for row in rows]

        def rank(one: Found) -> int:
            if one.entity_key == self._node["entity_key"]:
                return 0
            return 1 if identity and one.progress and one.progress.identity == identity else 2

        best = min(found, key=rank, default=None)
        if best is not None:
            self._node["entity_key"] = best.entity_key
        return best

    async def find_merged(self, *, fingerprint: str, identity: str) -> Found | None:
        """Find the node that the source's own was merged into, as long as that one was read to the end as it is now.

        Args are those of `find`.

        Raises:
            StoreError: the database failed.
        """
        sought = {"user_id": self._node["user_id"], "texts": [self._node["entity_key"], *filter(None, [identity])]}
        rows = await self._store.read(statement("find_merged_ingestions", label=self._label), sought)
        for row in rows:
            for key, stored in merged_ingestions(row["merged"]).items():
                progress = _progress(stored)
                if progress is None or not progress.is_complete:
                    continue
                is_own = key == self._node["entity_key"] or (identity and progress.identity == identity)
                if is_own and progress.fingerprint in {"", fingerprint}:
                    return Found(row["entity_key"], fingerprint, fingerprint, progress)
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


def _found(row: Row) -> Found:
    progress = _progress(row["progress"])
    told = row["fingerprint"] if isinstance(row["fingerprint"], str) else ""
    return Found(row["entity_key"], (progress and progress.fingerprint) or told, told, progress)


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
