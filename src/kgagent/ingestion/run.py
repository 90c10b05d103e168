"""One run on one source: it resumes where an earlier run stopped, and ends with a report."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from kgagent.errors import AlreadyExistsError, KgAgentError
from kgagent.graph.compare_and_set import compare_and_set
from kgagent.graph.graph_writes import GraphStrategy
from kgagent.graph.nodes import NodeIntent
from kgagent.graph.user_graph import UserGraph
from kgagent.ingestion.limits import Limits, RunStoppedError, RunUsage
from kgagent.ingestion.model_tools import ModelTools
from kgagent.ingestion.part_reader import ChatModel, PartReader
from kgagent.ingestion.prompt import part_message, system_prompt
from kgagent.ingestion.report import CallRecord, ChangeRecorder, IngestionReport, State
from kgagent.ingestion.source import Source
from kgagent.ingestion.source_parts import SourcePart, split_source
from kgagent.ingestion.source_store import (
    IngestionProgress,
    SourceStore,
    StoredSource,
    read_known_notes,
)
from kgagent.knowledge_graph import KnowledgeGraph, services_of


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """What all runs of one ingestor share; see `Ingestor`. The tools are bound to the model.

    Attributes:
        tool_tokens: estimated tokens of the definitions of the tools.
    """

    graph: KnowledgeGraph
    model: ChatModel
    user_id: str
    limits: Limits
    tools: Sequence[str]
    tool_tokens: int
    source_label: str
    instructions: str


class IngestionRun:
    """One run on one source."""

    def __init__(self, config: RunConfig, source: Source, *, force: bool) -> None:
        self._config = config
        self._source = source
        self._force = force
        self._services = services_of(config.graph)
        self._key = source.key(config.user_id)
        self._identity = source.identity_hash(config.user_id)
        self._changes = ChangeRecorder()
        self._calls: list[CallRecord] = []
        self._warnings: list[str] = []
        self._usage = RunUsage(config.limits, tokens_per_request=config.tool_tokens)
        self._store = SourceStore(
            self._services.store,
            label=config.source_label,
            user_id=config.user_id,
            entity_key=self._key,
        )
        self._progress = self._new_progress(config.limits.part_tokens)
        self._resumed = False
        self._updated = False
        self._known_notes: tuple[str, ...] = ()

    async def execute(self) -> IngestionReport:
        """Read the unread parts. Failures are described in the report; only a cancellation is
        raised.
        """
        try:
            stored = await self._find()
            if stored is None or stored.node_fingerprint != self._source.fingerprint:
                await self._write_node(stored)
            if stored and self._was_read(stored):
                return self._report("unchanged")
            await self._start(stored)
            for part in split_source(self._source, self._progress.part_tokens):
                if self._progress.parts[part.position] != "read":
                    await self._read(part)
            await self._store.save(self._progress, releases=True)
        except (RunStoppedError, KgAgentError) as error:
            return self._report("stopped", str(error))
        return self._report("complete" if self._progress.is_complete else "incomplete")

    async def _find(self) -> StoredSource | None:
        """Find the source's existing node; new notes then name that node."""
        stored = await self._store.find(
            fingerprint=self._source.fingerprint, identity=self._identity
        )
        if stored:
            self._key = stored.entity_key
        return stored

    @cached_property
    def _tools(self) -> ModelTools:
        config = self._config
        return ModelTools(
            config.graph.tools(
                user_id=config.user_id, source_entity_key=self._key, on_change=self._changes
            ),
            names=config.tools,
            source_label=config.source_label,
        )

    def _new_progress(self, part_tokens: int) -> IngestionProgress:
        parts = split_source(self._source, part_tokens)
        return IngestionProgress(
            part_tokens=part_tokens,
            parts=("unread",) * len(parts),
            fingerprint=self._source.fingerprint,
            identity=self._identity,
            part_fingerprints=tuple(part.fingerprint for part in parts),
        )

    async def _write_node(self, stored: StoredSource | None) -> None:
        """Create the source's node, or update it to describe the version that is read."""
        source, now = self._source, self._services.write_context.clock()
        values = {
            "name": source.name,
            "description": source.summary,
            "content_hash": source.fingerprint,
            **({"source_date": source.date.isoformat()} if source.date else {}),
            **({} if stored else {"created_at": now}),
        }
        context = replace(self._services.write_context, on_change=self._changes)
        graph = UserGraph(
            self._services.nodes, self._services.relationships, context, self._config.user_id
        )
        intent = NodeIntent(
            entity_key=self._key,
            label=self._config.source_label,
            mode="either" if stored else "create",
            values=values,
        )
        [written] = await compare_and_set(GraphStrategy(graph), [intent], attempts=context.attempts)
        if isinstance(written, KgAgentError) and not isinstance(written, AlreadyExistsError):
            raise written

    def _was_read(self, stored: StoredSource) -> bool:
        """Whether nothing is left to read."""
        progress = stored.progress
        is_same_version = stored.fingerprint == self._source.fingerprint
        if self._force or not progress or not progress.is_complete or not is_same_version:
            return False
        self._progress = progress
        return True

    async def _start(self, stored: StoredSource | None) -> None:
        """Claim the source, and build on what earlier runs read of this or an earlier version."""
        progress = await self._store.claim()
        version = (progress and progress.fingerprint) or (stored and stored.fingerprint)
        self._updated = bool(version) and version != self._source.fingerprint
        if progress:
            self._known_notes = await read_known_notes(
                self._services, user_id=self._config.user_id, source_entity_key=self._key
            )
            if not self._force and not self._updated and self._matches_parts(progress):
                self._progress = self._with_identity(progress)
                self._resumed = progress.parts_read > 0
                return
            if self._updated:
                # A newer version is split as the earlier one was, so that unchanged parts have the
                # same fingerprint.
                self._progress = self._new_progress(progress.part_tokens)
            self._progress = self._progress.model_copy(
                update={"identity": progress.identity or self._identity}
            )
            if not self._force:
                self._progress = self._progress.with_parts_of(progress)
        await self._store.save(self._progress)

    def _with_identity(self, progress: IngestionProgress) -> IngestionProgress:
        """Progress that also states the source's identity and version."""
        return progress.model_copy(
            update={
                "identity": progress.identity or self._identity,
                "fingerprint": self._source.fingerprint,
            }
        )

    def _matches_parts(self, progress: IngestionProgress) -> bool:
        """Whether the source is still split into as many parts as before."""
        return len(split_source(self._source, progress.part_tokens)) == len(progress.parts)

    async def _read(self, part: SourcePart) -> None:
        reader = PartReader(
            self._config.model,
            self._tools,
            self._usage,
            part.position,
            on_call=self._calls.append,
            before_write=lambda: self._store.save(self._progress),
        )
        outcome = await reader.read(self._prompt(part))
        if outcome.given_up:
            self._warnings.append(f"Part {part.position + 1} was abandoned: {outcome.given_up}")
        if outcome.remark:
            self._warnings.append(f"Part {part.position + 1}: {outcome.remark}")
        self._progress = self._progress.with_part(
            part.position, "given_up" if outcome.given_up else "read"
        )
        await self._store.save(self._progress)

    def _prompt(self, part: SourcePart) -> tuple[BaseMessage, ...]:
        config = self._config
        system = system_prompt(
            config.graph.ontology,
            source_label=config.source_label,
            instructions=config.instructions,
        )
        now = self._services.write_context.clock()
        human = part_message(
            self._source, part, len(self._progress.parts), now, known_notes=self._known_notes
        )
        return SystemMessage(system), HumanMessage(human)

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
            parts_read=self._progress.parts_read,
            steps=self._usage.steps,
            calls=tuple(self._calls),
            nodes=self._changes.nodes,
            relationships=self._changes.relationships,
            tokens=self._usage.tokens,
            seconds=self._usage.seconds,
            warnings=tuple(self._warnings),
        )
