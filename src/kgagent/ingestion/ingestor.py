"""Reads sources into the graph of one user: a run resumes where an earlier one stopped, and ends
with a report.
"""

import asyncio
from dataclasses import replace

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool

from kgagent.adapters.chosen_tools import choose_tools, offered_together
from kgagent.adapters.event_loops import run_on, wait_on
from kgagent.adapters.langchain.tools import langchain_tool
from kgagent.errors import ConfigurationError, KgAgentError
from kgagent.formatting import counted
from kgagent.graph.compare_and_set import compare_and_set
from kgagent.graph.graph_writes import GraphStrategy
from kgagent.graph.nodes import NodeIntent
from kgagent.graph.user_graph import UserGraph
from kgagent.ingestion.parts import Part, split_source
from kgagent.ingestion.progress import Progress, ProgressStore
from kgagent.ingestion.prompt import part_message, system_prompt
from kgagent.ingestion.reader import (
    Limits,
    PartAbandonedError,
    PartReader,
    Usage,
)
from kgagent.ingestion.report import ChangeRecorder, IngestionReport, State
from kgagent.ingestion.source import Source
from kgagent.knowledge_graph import KnowledgeGraph, services_of
from kgagent.ontology import Ontology
from kgagent.sync import SyncKnowledgeGraph
from kgagent.validation import check_user_id

TOOLS = ("explore", "hybrid_search", "remember")
"""The tools of the model. None deletes, because the request to delete could come from the
source.
"""


class Ingestor:
    """Reads sources into the graph of one user with a chat model.

    The model explores what is already known, then records what the source says with `remember`. It
    chooses neither the user nor the source that notes name.

        report = await Ingestor(graph, model, user_id="me").ingest(Source(name="Call with Ruth",
        turns=turns))
    """

    def __init__(
        self,
        graph: KnowledgeGraph | SyncKnowledgeGraph,
        model: BaseChatModel,
        *,
        user_id: str,
        limits: Limits | None = None,
        source_label: str | None = None,
        instructions: str = "",
    ) -> None:
        """Prepare.

        Args:
            graph: an open graph.
            model: any LangChain chat model that calls tools.
            user_id: owner of the graph.
            limits: limits of each run.
            source_label: label of source nodes; by default the only label of the ontology with a
                dated key.
            instructions: added to the system prompt, for example who "I" is in the sources. It is
                trusted.

        Raises:
            InputError: the user id is empty, or the ontology does not have the label.
            ConfigurationError: the label of sources cannot be determined.
        """
        check_user_id(user_id)
        self.graph = graph.graph if isinstance(graph, SyncKnowledgeGraph) else graph
        self.model = model
        self.user_id = user_id
        self.limits = limits or Limits()
        self.source_label = _source_label(self.graph.ontology, source_label)
        self.prompt = system_prompt(
            self.graph.ontology, source_label=self.source_label, instructions=instructions
        )

    async def ingest(self, source: Source, *, force: bool = False) -> IngestionReport:
        """Read a source. A source that was read completely changes nothing and makes no model call.

        A failure during the run ends it and is described in the report; another call reads the
        remaining parts.

        Args:
            source: the source to read.
            force: whether to read the source from its beginning even if it was read before.

        Raises:
            ConfigurationError: the event loop on which the graph was opened is closed.
        """
        return await run_on(self.graph.loop, self._ingest(source, force=force))

    def ingest_sync(self, source: Source, *, force: bool = False) -> IngestionReport:
        """Read a source and block until the run ends; for a `SyncKnowledgeGraph`, or from another
        thread.

        Raises:
            ConfigurationError: the call would block the graph's own event loop, or that loop is
                closed.
        """
        return wait_on(self.graph.loop, self._ingest(source, force=force), instead="await ingest")

    async def _ingest(self, source: Source, *, force: bool) -> IngestionReport:
        return await _Run(self, source, force=force).execute()


class _Run:
    """One run on one source."""

    def __init__(self, ingestor: Ingestor, source: Source, *, force: bool) -> None:
        self._ingestor = ingestor
        self._source = source
        self._force = force
        self._services = services_of(ingestor.graph)
        self._key = source.key(ingestor.user_id)
        self._store = ProgressStore(
            self._services.store,
            label=ingestor.source_label,
            user_id=ingestor.user_id,
            part_tokens=ingestor.limits.part_tokens,
        )
        self._usage = Usage(ingestor.limits, self._save)
        self._changes = ChangeRecorder()
        self._warnings: list[str] = []
        self._resumed = self._updated = False
        self._follow(Progress(part_tokens=ingestor.limits.part_tokens))
        self._began = asyncio.get_running_loop().time()

    async def execute(self) -> IngestionReport:
        """Read the unread parts. Failures are described in the report; only a cancellation is
        raised.
        """
        try:
            async with asyncio.timeout(self._ingestor.limits.seconds) as timeout:
                return self._report(await self._read_source())
        except TimeoutError:
            if not timeout.expired():
                raise
            limit = self._ingestor.limits.seconds
            return self._report("stopped", f"the time limit of {limit:g} s is reached")
        except KgAgentError as error:
            return self._report("stopped", str(error))

    async def _read_source(self) -> State:
        fingerprint = self._source.fingerprint
        stored = await self._store.find(self._key, fingerprint)
        if stored:
            # New notes name the node that exists.
            self._key = stored.entity_key
            self._updated = stored.fingerprint != fingerprint
            self._follow(stored.progress)
            if not (self._updated or self._force or self._unread):
                return "unchanged"
        if not stored or self._updated:
            await self._write_node()
        progress = await self._store.claim(self._key)
        if self._force:
            progress = Progress(part_tokens=progress.part_tokens)
        self._follow(progress)
        self._resumed = not self._updated and len(self._unread) < len(self._parts)
        await self._save()
        reader = PartReader(self._ingestor.model, self._tools(), self._ingestor.prompt, self._usage)
        for part in self._unread:
            await self._read(reader, part)
        await self._save(releases=True)
        return "incomplete" if self._unread else "complete"

    def _follow(self, progress: Progress) -> None:
        """Continue from what has been read."""
        self._progress = progress
        self._parts = split_source(self._source, progress.part_tokens)

    @property
    def _unread(self) -> list[Part]:
        return [part for part in self._parts if part.fingerprint not in self._progress.read]

    async def _save(self, *, releases: bool = False) -> None:
        await self._store.save(self._key, self._progress, releases=releases)

    async def _read(self, reader: PartReader, part: Part) -> None:
        now = self._services.write_context.clock()
        self._usage.begin(part.number)
        try:
            remark = await reader.read(part_message(self._source, part, len(self._parts), now))
        except PartAbandonedError as error:
            self._warnings.append(f"Part {part.number} was abandoned: {error}")
            return
        if remark:
            self._warnings.append(f"Part {part.number}: {remark}")
        read = self._progress.read | {part.fingerprint}
        self._progress = self._progress.model_copy(update={"read": read})
        await self._save()

    def _tools(self) -> list[BaseTool]:
        """The tools of the model, bound to the user and the source."""
        tools = self._ingestor.graph.tools(
            user_id=self._ingestor.user_id, source_entity_key=self._key, on_change=self._changes
        )
        offered = offered_together(choose_tools(tools, TOOLS)).values()
        return [langchain_tool(tool, self._ingestor.graph, without=("source",)) for tool in offered]

    async def _write_node(self) -> None:
        """Create the source's node, or update it to describe the version that is read."""
        source, services = self._source, self._services
        values = {
            "name": source.name,
            "description": source.summary,
            "content_hash": source.fingerprint,
            **({"source_date": source.date.isoformat()} if source.date else {}),
        }
        intent = NodeIntent(
            entity_key=self._key,
            label=self._ingestor.source_label,
            mode="either",
            initial={"created_at": services.write_context.clock()},
            values=values,
        )
        context = replace(services.write_context, on_change=self._changes)
        graph = UserGraph(services.nodes, services.relationships, context, self._ingestor.user_id)
        [written] = await compare_and_set(GraphStrategy(graph), [intent], attempts=context.attempts)
        if isinstance(written, KgAgentError):
            raise written

    def _report(self, state: State, reason: str = "") -> IngestionReport:
        return IngestionReport(
            name=self._source.name,
            source_entity_key=self._key,
            fingerprint=self._source.fingerprint,
            state=state,
            reason=reason,
            resumed=self._resumed,
            updated=self._updated,
            parts=len(self._parts),
            parts_read=len(self._parts) - len(self._unread),
            steps=self._usage.steps,
            calls=tuple(self._usage.calls),
            nodes=self._changes.nodes,
            relationships=self._changes.relationships,
            tokens=self._usage.tokens,
            seconds=asyncio.get_running_loop().time() - self._began,
            warnings=tuple(self._warnings),
        )


def _source_label(ontology: Ontology, label: str | None) -> str:
    if label is not None:
        ontology.label(label)
        return label
    dated = [name for name, rule in ontology.labels.items() if rule.key_includes_time]
    if len(dated) != 1:
        raise ConfigurationError(
            f"Cannot determine the label of sources: the ontology has "
            f"{counted(len(dated), 'label')} with ${{created_at}} in the key. Pass source_label, "
            f"one of {', '.join(ontology.labels)}"
        )
    return dated[0]
