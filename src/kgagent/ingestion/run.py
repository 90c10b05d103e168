"""One run on one source: it goes on where another stopped, and ends with a report."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from kgagent.errors import AlreadyExistsError, KgAgentError
from kgagent.graph.nodes import NodeIntent, NodeWriter
from kgagent.ingestion.agent import Ending, Model, PartReader
from kgagent.ingestion.budget import Budget, StoppedError
from kgagent.ingestion.changes import Changes
from kgagent.ingestion.functions import Functions
from kgagent.ingestion.limits import Limits
from kgagent.ingestion.parts import Part, cut
from kgagent.ingestion.progress import Ledger, PartState, Progress, Transcript
from kgagent.ingestion.prompt import part_message, system_prompt
from kgagent.ingestion.report import CallRecord, IngestionReport, State
from kgagent.ingestion.source import Source
from kgagent.knowledge_graph import KnowledgeGraph
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
    """The key of a source's node: the same content of the same user is the same node, however it is described."""
    return hashlib.sha256(f"source{source.fingerprint}{user_id}".encode()).hexdigest()


class Run:
    """One run."""

    def __init__(self, setup: Setup, source: Source, *, force: bool) -> None:
        self._setup = setup
        self._source = source
        self._force = force
        self._graph = setup.graph
        self._key = source_key(source, setup.user_id)
        self._changes = Changes()
        self._calls: list[CallRecord] = []
        self._warnings: list[str] = []
        self._functions = Functions(
            setup.graph.tools(user_id=setup.user_id, source_entity_key=self._key, on_change=self._changes),
            names=setup.tools,
            source_label=setup.source_label,
        )
        self._budget = Budget(setup.limits, overhead=estimated_tokens(str(self._functions.schemas)))
        self._ledger = Ledger(setup.graph.store, label=setup.source_label, user_id=setup.user_id, entity_key=self._key)
        self._progress = self._fresh()
        self._resumed = False

    async def carry_out(self) -> IngestionReport:
        """Read what is not read yet; what goes wrong is in the report, and nothing is raised but a cancellation."""
        try:
            found, known = await self._ledger.read()
            if known and known.is_over and not self._force:
                self._progress = known
                return self._report("unchanged" if known.is_complete else "incomplete")
            if not found:
                merged = None if self._force else await self._ledger.read_merged()
                if merged and merged[1].is_complete:
                    self._key, self._progress = merged
                    return self._report("unchanged")
                await self._create_node()
            transcript = await self._begin()
            for part in cut(self._source, self._progress.part_tokens):
                if self._progress.parts[part.position] not in {"read", "refused"}:
                    await self._read(part, transcript)
            await self._ledger.save(self._progress, ends=True)
        except (StoppedError, KgAgentError) as error:
            return self._report("stopped", str(error))
        return self._report("complete" if self._progress.is_complete else "incomplete")

    def _fresh(self) -> Progress:
        part_tokens = self._setup.limits.part_tokens
        return Progress(part_tokens=part_tokens, parts=("unread",) * len(cut(self._source, part_tokens)))

    async def _create_node(self) -> None:
        source, now = self._source, self._graph.writing.clock()
        values = {
            "name": source.name,
            "description": source.told,
            "created_at": now,
            "content_hash": source.fingerprint,
            "source_date": source.date and source.date.isoformat(),
        }
        writing = replace(self._graph.writing, on_change=self._changes)
        writer = NodeWriter(self._graph.nodes, writing, user_id=self._setup.user_id)
        intent = NodeIntent(entity_key=self._key, label=self._setup.source_label, values=values)
        [written] = await writer.carry_out([intent])
        if isinstance(written, KgAgentError) and not isinstance(written, AlreadyExistsError):
            raise written

    async def _begin(self) -> Transcript | None:
        """Claim the source, and take up what the run before this one left."""
        progress, transcript = await self._ledger.claim()
        if progress is None or self._force or not self._fits(progress):
            await self._ledger.save(self._progress)
            return None
        self._progress = progress
        self._resumed = bool(progress.read or transcript)
        return transcript

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
        told = part_message(self._source, part, len(self._progress.parts), self._graph.writing.clock())
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
