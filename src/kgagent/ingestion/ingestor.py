"""Reads sources into the graph of one user: a run resumes where an earlier one stopped, and ends
with a report.
"""

import asyncio

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool

from kgagent.adapters.chosen_tools import choose_tools, offered_together
from kgagent.adapters.event_loops import run_on, wait_on
from kgagent.adapters.langchain.tools import langchain_tool
from kgagent.errors import ConfigurationError, KgAgentError
from kgagent.formatting import counted
from kgagent.ingestion.prompt import part_message, system_prompt
from kgagent.ingestion.reader import Limits, PartAbandonedError, PartReader
from kgagent.ingestion.report import IngestionReport, State
from kgagent.ingestion.source import Source
from kgagent.ingestion.stored_source import StoredSource
from kgagent.knowledge_graph import KnowledgeGraph, services_of
from kgagent.ontology import Ontology
from kgagent.sync import SyncKnowledgeGraph
from kgagent.text_parts import TextPart, split_text
from kgagent.validation import check_user_id

TOOLS = ("remember", "explore", "hybrid_search")
"""The tools of the model. None deletes, because the request to delete could come from the
source.
"""

KNOWN_TOKENS = 1_500
"""Tokens of what the graph holds on a part."""

QUERY_CHARACTERS = 1_000
MAX_QUERIES = 20
"""A part is searched for in pieces, each as one query."""

PRICED_TOKENS = 1_000_000


class Ingestor:
    """Reads sources into the graph of one user with a chat model.

    The model gets each part with what the graph holds on it, and records what the part says with
    `remember`. It chooses neither the user nor the source that notes name.

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
        prices: tuple[float, float] | None = None,
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
            prices: of a million tokens of requests and of answers, for the cost in the report.

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
        self.prices = prices

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
        return await run_on(self.graph.loop, _Run(self, source).execute(force=force))

    def ingest_sync(self, source: Source, *, force: bool = False) -> IngestionReport:
        """Read a source and block until the run ends; for a `SyncKnowledgeGraph`, or from another
        thread.

        Raises:
            ConfigurationError: the call would block the graph's own event loop, or that loop is
                closed.
        """
        run = _Run(self, source)
        return wait_on(self.graph.loop, run.execute(force=force), instead="await ingest")


class _Run:
    """One run on one source."""

    def __init__(self, ingestor: Ingestor, source: Source) -> None:
        self._ingestor = ingestor
        self._stored = StoredSource(
            services_of(ingestor.graph),
            source,
            user_id=ingestor.user_id,
            label=ingestor.source_label,
            part_size=ingestor.limits.part_size,
        )
        self._report = IngestionReport(name=source.name)

    async def execute(self, *, force: bool) -> IngestionReport:
        """Read the unread parts. Failures are described in the report; only a cancellation is
        raised.
        """
        began = asyncio.get_running_loop().time()
        report, stored, prices = self._report, self._stored, self._ingestor.prices
        try:
            report.state = await self._read_source(force=force)
        except KgAgentError as error:
            report.reason = str(error)
        report.source_entity_key = stored.key
        report.parts = len(stored.parts)
        report.parts_read = report.parts - len(stored.unread)
        report.seconds = asyncio.get_running_loop().time() - began
        if prices is not None:
            used = report.tokens["input_tokens"], report.tokens["output_tokens"]
            report.cost = (used[0] * prices[0] + used[1] * prices[1]) / PRICED_TOKENS
        return report

    async def _read_source(self, *, force: bool) -> State:
        stored, ingestor = self._stored, self._ingestor
        await stored.find()
        if stored.is_current and not stored.unread and not force:
            return "unchanged"
        await stored.claim(again=force)
        reader = PartReader(
            ingestor.model,
            self._tools(),
            ingestor.prompt,
            ingestor.limits,
            before_write=stored.save,
            report=self._report,
        )
        for part in stored.unread:
            await self._read(reader, part)
        return "incomplete" if stored.unread else "complete"

    async def _read(self, reader: PartReader, part: TextPart) -> None:
        stored, report = self._stored, self._report
        number, written = stored.parts.index(part) + 1, report.written.total()
        message = part_message(
            stored.source,
            part,
            number=number,
            count=len(stored.parts),
            known=await self._known(part),
            now=services_of(self._ingestor.graph).write_context.clock(),
        )
        try:
            await reader.read(number, message)
        except PartAbandonedError as error:
            report.warnings.append(f"Part {number} was abandoned: {error}")
            return
        if report.written.total() == written:
            report.warnings.append(f"Part {number}: nothing was recorded")
        await stored.save(read=part)

    async def _known(self, part: TextPart) -> str:
        """What the graph holds on the names and topics of a part."""
        pieces = split_text(part.text, QUERY_CHARACTERS)[:MAX_QUERIES]
        explore = self._ingestor.graph.tools(user_id=self._ingestor.user_id).explore
        queries = [{"query": piece.text} for piece in pieces]
        return (await explore.call_text({"queries": queries, "token_budget": KNOWN_TOKENS})).text

    def _tools(self) -> list[BaseTool]:
        """The tools of the model, bound to the user and the source."""
        graph = self._ingestor.graph
        tools = graph.tools(user_id=self._ingestor.user_id, source_entity_key=self._stored.key)
        offered = offered_together(choose_tools(tools, TOOLS)).values()
        return [langchain_tool(tool, graph, without=("source",)) for tool in offered]


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
