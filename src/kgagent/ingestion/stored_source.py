"""The node of a source, on which is stored how far the source has been read, so that another run
resumes there.
"""

import hashlib
import uuid
from contextlib import suppress

from pydantic import BaseModel, ValidationError

from kgagent.errors import ConflictError, KgAgentError
from kgagent.graph.compare_and_set import compare_and_set
from kgagent.graph.graph_writes import GraphStrategy
from kgagent.graph.identifiers import Identifier
from kgagent.graph.nodes import NodeIntent
from kgagent.graph.property_names import SOURCE_TEXT
from kgagent.graph.quotes import lost_quotes
from kgagent.graph.statements import statement
from kgagent.ingestion.source import Source
from kgagent.services import GraphServices
from kgagent.text_parts import TextPart, split_text


class _Progress(BaseModel):
    """How far a source has been read.

    Attributes:
        part_size: maximum size of the parts; a later run splits in the same way, so that parts
            whose text is unchanged are recognized.
        read: fingerprints of the parts that were read, of all versions of the source.
    """

    part_size: int
    read: set[str] = set()


class StoredSource:
    """The node of a source, for one run.

    Attributes:
        source: the source.
        key: key of the node.
        is_current: whether the node describes this version of the source.
        parts: the parts of the source.
        warnings: what its new text changes of notes.
    """

    def __init__(
        self, services: GraphServices, source: Source, *, user_id: str, label: str, part_size: int
    ) -> None:
        self.source = source
        self.key = source.key(user_id)
        self.is_current = False
        self.parts: tuple[TextPart, ...] = ()
        self.warnings: list[str] = []
        self._services = services
        self._user_id = user_id
        self._label = label
        self._progress = _Progress(part_size=part_size)
        self._run = str(uuid.uuid4())

    @property
    def unread(self) -> list[TextPart]:
        """The parts that are not read."""
        return [part for part in self.parts if _fingerprint(part) not in self._progress.read]

    async def find(self) -> None:
        """Read what earlier runs have stored; the node is found by its key, or else by its content.

        Raises:
            StoreError: the database failed.
        """
        fingerprint = self.source.fingerprint
        rows = await self._services.store.read(
            statement("find_ingestions", label=Identifier(self._label)),
            {"user_id": self._user_id, "entity_key": self.key, "fingerprint": fingerprint},
        )
        if rows:
            # New notes name the node that exists.
            self.key = rows[0]["entity_key"]
            self.is_current = rows[0]["fingerprint"] == fingerprint
            with suppress(ValidationError):
                self._progress = _Progress.model_validate_json(str(rows[0]["progress"]))
        self.parts = split_text(self.source.content, self._progress.part_size)

    async def claim(self, *, again: bool) -> None:
        """Become the run that reads the source, whose node then describes this version.

        Args:
            again: whether what was read before is read again.

        Raises:
            KgAgentError: the node could not be written.
        """
        if not self.is_current:
            await self._write()
        if again:
            self._progress.read = set()
        await self.save(claims=True)

    async def save(self, *, read: TextPart | None = None, claims: bool = False) -> None:
        """Store how far the source is read.

        Args:
            read: a part that was read.
            claims: whether this run takes the source over from any other.

        Raises:
            ConflictError: another run took the source over.
            StoreError: the database failed.
        """
        if read is not None:
            self._progress.read.add(_fingerprint(read))
        saved = await self._services.store.write(
            statement("save_ingestion", label=Identifier(self._label)),
            {
                "user_id": self._user_id,
                "entity_key": self.key,
                "run": self._run,
                "claims": claims,
                "progress": self._progress.model_dump_json(),
            },
        )
        if not saved:
            raise ConflictError("Another run is reading this source, or its node was deleted")

    async def _write(self) -> None:
        source, context = self.source, self._services.write_context
        values = {
            "name": source.name,
            "description": source.summary,
            "content_hash": source.fingerprint,
            SOURCE_TEXT: source.content,
            **({"said_on": source.day} if source.day else {}),
        }
        intent = NodeIntent(
            entity_key=self.key,
            label=self._label,
            mode="either",
            initial={"created_at": context.clock()},
            values=values,
        )
        graph = self._services.user_graph(self._user_id)
        losing, said = await lost_quotes(graph, {self.key: source.content})
        self.warnings += said.values()
        [written, *_] = await compare_and_set(
            GraphStrategy(graph), [intent, *losing], attempts=context.attempts
        )
        if isinstance(written, KgAgentError):
            raise written


def _fingerprint(part: TextPart) -> str:
    return hashlib.sha256(part.text.encode()).hexdigest()[:16]
