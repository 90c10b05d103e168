"""One run on one source: it goes on where another stopped, and ends with a report."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from kgagent.errors import AlreadyExistsError, KgAgentError
from kgagent.graph.nodes import NodeIntent, NodeWriter
from kgagent.ingestion.agent import Ending, Model, PartReader
from kgagent.ingestion.budget import Budget, StoppedError
from kgagent.ingestion.changes import Changes
from kgagent.ingestion.functions import Functions
from kgagent.ingestion.known_notes import known_notes
from kgagent.ingestion.limits import Limits
from kgagent.ingestion.parts import Part, cut
from kgagent.ingestion.progress import Found, Ledger, PartState, Progress, Transcript
from kgagent.ingestion.prompt import part_message, system_prompt
from kgagent.ingestion.report import CallRecord, IngestionReport, State
from kgagent.ingestion.source import Source
from kgagent.knowledge_graph import KnowledgeGraph, services_of
from kgagent.models.llm_context import estimated_tokens


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What the runs of one ingestor have in common.

    Attributes:
        graph: an open graph.
        model: with the tools bound to it.
        user_id: whose graph.
        limits: how much a run may do.
        tools: names of those that the model is offered.
        source_label: label of the nodes of sources.
        instructions: what the caller tells the model beside the rules.
    """

    graph: KnowledgeGraph
    model: Model
    user_id: str
    limits: Limits
    tools: Sequence[str]
    source_label: str
    instructions: str


def source_key(source: Source, user_id: str) -> str:
    """The key of a new source's node: the same id, or without one the same content, of a user is the same node."""
    if source.id:
        return identity_of(source, user_id)
    return hashlib.sha256(f"source{source.fingerprint}{user_id}".encode()).hexdigest()


def identity_of(source: Source, user_id: str) -> str:
    """The id of a user's source as a hash, which may be searched for in a text; empty where it has none."""
    told = json.dumps(["source id", source.id, user_id])
    return hashlib.sha256(told.encode()).hexdigest() if source.id else ""


class Run:
    """One run."""

    def __init__(self, setup: Setup, source: Source, *, force: bool) -> None:
        self._setup = setup
        self._source = source
        self._force = force
        self._graph = setup.graph
        self._key = source_key(source, setup.user_id)
        self._identity = identity_of(source, setup.user_id)
        self._changes = Changes()
        self._calls: list[CallRecord] = []
        self._warnings: list[str] = []
        self._functions = self._functions_for(self._key)
        self._budget = Budget(setup.limits, overhead=estimated_tokens(str(self._functions.schemas)))
        self._ledger = Ledger(
            services_of(setup.graph).store, label=setup.source_label, user_id=setup.user_id, entity_key=self._key
        )
        self._progress = self._fresh()
        self._resumed = False
        self._updated = False
        self._known_notes: tuple[str, ...] = ()

    async def apply(self) -> IngestionReport:
        """Read what is not read yet; what goes wrong is in the report, and nothing is raised but a cancellation."""
        try:
            found = await self._find()
            if found and (over := await self._over(found)):
                return self._report(over)
            transcript = await self._begin(found)
            for part in cut(self._source, self._progress.part_tokens):
                if self._progress.parts[part.position] not in {"read", "refused"}:
                    await self._read(part, transcript)
            await self._ledger.save(self._progress, ends=True)
        except (StoppedError, KgAgentError) as error:
            return self._report("stopped", str(error))
        return self._report("complete" if self._progress.is_complete else "incomplete")

    async def _find(self) -> Found | None:
        """The node that the source has already; notes name it from now on."""
        sought = {"fingerprint": self._source.fingerprint, "identity": self._identity}
        found = await self._ledger.find(**sought)
        if not found and not self._force:
            found = await self._ledger.find_merged(**sought)
        if found:
            self._key = found.entity_key
            self._functions = self._functions_for(self._key)
        return found

    async def _over(self, found: Found) -> State | None:
        """How the run ends where there is nothing to read."""
        progress = found.progress
        if self._force or not progress or not progress.is_over or found.fingerprint != self._source.fingerprint:
            return None
        self._progress = progress
        if found.told != self._source.fingerprint:
            # A run that died after it kept the version did not come to tell of it.
            await self._write_node(found)
        if self._identity and not progress.identity and self._ledger.entity_key == self._key:
            self._progress = self._identified(progress)
            await self._ledger.claim()
            await self._ledger.save(self._progress, ends=True)
        return "unchanged" if progress.is_complete else "incomplete"

    def _functions_for(self, entity_key: str) -> Functions:
        setup = self._setup
        return Functions(
            setup.graph.tools(user_id=setup.user_id, source_entity_key=entity_key, on_change=self._changes),
            names=setup.tools,
            source_label=setup.source_label,
        )

    def _fresh(self, part_tokens: int | None = None) -> Progress:
        size = part_tokens or self._setup.limits.part_tokens
        parts = cut(self._source, size)
        return Progress(
            part_tokens=size,
            parts=("unread",) * len(parts),
            fingerprint=self._source.fingerprint,
            identity=self._identity,
            texts=tuple(part.fingerprint for part in parts),
        )

    async def _write_node(self, found: Found | None) -> None:
        """Make the source's node, or have it tell of the version that is read now."""
        source, now = self._source, services_of(self._graph).write_context.clock()
        values = {
            "name": source.name,
            "description": source.told,
            "content_hash": source.fingerprint,
            **({"source_date": source.date.isoformat()} if source.date else {}),
            **({} if found else {"created_at": now}),
        }
        writing = replace(services_of(self._graph).write_context, on_change=self._changes)
        writer = NodeWriter(services_of(self._graph).nodes, writing, user_id=self._setup.user_id)
        intent = NodeIntent(
            entity_key=self._key, label=self._setup.source_label, or_update=found is not None, values=values
        )
        [written] = await writer.apply([intent])
        if isinstance(written, KgAgentError) and not isinstance(written, AlreadyExistsError):
            raise written

    async def _begin(self, found: Found | None) -> Transcript | None:
        """Claim the source, and take up what the run before this one left, or what it read of an earlier version."""
        if not found:
            await self._write_node(None)
        progress, transcript = await self._ledger.claim()
        if progress is None:
            self._updated = bool(found and found.told and found.told != self._source.fingerprint)
            await self._ledger.save(self._progress)
            if found and self._updated:
                await self._write_node(found)
            return None
        self._known_notes = await known_notes(self._graph, user_id=self._setup.user_id, source_entity_key=self._key)
        version = progress.fingerprint or (found and found.fingerprint)
        self._updated = version != self._source.fingerprint
        if not self._force and not self._updated and self._fits(progress):
            self._progress = self._identified(progress)
            self._resumed = bool(progress.read or transcript)
        else:
            # Cut as the earlier version was, a part that stayed the same is known again.
            fresh = self._fresh(progress.part_tokens) if self._updated else self._progress
            fresh = fresh.model_copy(update={"identity": progress.identity or self._identity})
            self._progress = fresh if self._force else fresh.after(progress)
            transcript = None
            await self._ledger.save(self._progress)
        if found and found.told != self._source.fingerprint:
            await self._write_node(found)
        return transcript

    def _identified(self, progress: Progress) -> Progress:
        """Progress that tells under which id the source is known, and which version of it is read."""
        told = {"identity": progress.identity or self._identity, "fingerprint": self._source.fingerprint}
        return progress.model_copy(update=told)

    def _fits(self, progress: Progress) -> bool:
        """Whether the source is still cut as it was."""
        return len(cut(self._source, progress.part_tokens)) == len(progress.parts)

    async def _read(self, part: Part, transcript: Transcript | None) -> None:
        begun = transcript is not None and transcript.position == part.position

        async def keep(messages: Sequence[BaseMessage]) -> None:
            await self._ledger.save(self._progress, Transcript(part.position, tuple(messages)))

        reader = PartReader(self._setup.model, self._functions, self._budget, part.position, self._calls.append, keep)
        messages = transcript.messages if transcript is not None and begun else self._messages(part)
        ending = await reader.read(messages, resumed=begun)
        self._warn(part, ending)
        state: PartState = "refused" if ending.refused else "given_up" if ending.given_up else "read"
        self._progress = self._progress.with_part(part.position, state, ending.refused)
        await self._ledger.save(self._progress)

    def _messages(self, part: Part) -> tuple[BaseMessage, ...]:
        setup = self._setup
        prompt = system_prompt(self._graph.ontology, source_label=setup.source_label, instructions=setup.instructions)
        now = services_of(self._graph).write_context.clock()
        told = part_message(self._source, part, len(self._progress.parts), now, known_notes=self._known_notes)
        return SystemMessage(prompt), HumanMessage(told)

    def _warn(self, part: Part, ending: Ending) -> None:
        if ending.given_up:
            self._warnings.append(f"Part {part.position + 1} was given up: {ending.given_up}")
        if ending.remark:
            self._warnings.append(f"Part {part.position + 1}: {ending.remark}")

    def _refusals(self) -> list[str]:
        """What was refused, by this run or one before it."""
        return [
            f"Part {position + 1} is not read, and only a forced run tries it again: {reason}"
            for position, reason in self._progress.refusals.items()
        ]

    def _report(self, state: State, reason: str = "") -> IngestionReport:
        return IngestionReport(
            name=self._source.name,
            source_entity_key=self._key,
            fingerprint=self._source.fingerprint,
            state=state,
            reason=reason,
            resumed=self._resumed,
            updated=self._updated,
            parts=len(self._progress.parts),
            parts_read=self._progress.read,
            steps=self._budget.steps,
            calls=tuple(self._calls),
            nodes=self._changes.nodes,
            relationships=self._changes.relationships,
            tokens=self._budget.tokens,
            seconds=self._budget.seconds,
            warnings=(*self._warnings, *self._refusals()),
        )
