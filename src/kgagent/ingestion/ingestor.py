"""Reads sources into the graph of one user: a run resumes where an earlier one stopped, and ends
with a report.
"""

import operator
import time

from langchain_core.language_models import BaseChatModel

from kgagent.adapters.chosen_tools import choose_tools, offered_together
from kgagent.adapters.event_loops import run_on, wait_on
from kgagent.adapters.langchain.tools import langchain_tool
from kgagent.errors import ConfigurationError, KgAgentError
from kgagent.ingestion.prompt import part_message, system_prompt
from kgagent.ingestion.reader import Limits, PartAbandonedError, PartReader
from kgagent.ingestion.report import IngestionReport, State
from kgagent.ingestion.source import Source
from kgagent.ingestion.stored_source import StoredSource
from kgagent.knowledge_graph import KnowledgeGraph, services_of
from kgagent.sync import SyncKnowledgeGraph
from kgagent.text_parts import split_text
from kgagent.trust import Trust, given_trust
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
        instructions: str = "",
        prices: tuple[float, float] | None = None,
        trust: Trust | None = None,
    ) -> None:
        """Prepare.

        Args:
            graph: an open graph.
            model: any LangChain chat model that calls tools.
            user_id: owner of the graph.
            limits: limits of each run.
            instructions: added to the system prompt, for example who "I" is in the sources. It is
                trusted.
            prices: of a million tokens of requests and of answers, for the cost in the report.
            trust: class of the sources, and of what the model records of them; None is that of the
                process.

        Raises:
            InputError: the user id is empty, or there is no such class.
            ConfigurationError: the ontology has no label of sources.
        """
        check_user_id(user_id)
        self.graph = graph.graph if isinstance(graph, SyncKnowledgeGraph) else graph
        self.model = model
        self.user_id = user_id
        self.limits = limits or Limits()
        ontology = self.graph.ontology
        if ontology.source_label is None:
            raise ConfigurationError(
                "The ontology has no label of sources: one label must have ${created_at} in its key"
            )
        self.source_label = ontology.source_label
        self.prompt = "\n\n".join(filter(None, (system_prompt(ontology), instructions)))
        self.prices = prices
        self.trust = given_trust(trust)

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
        began = time.monotonic()
        stored = StoredSource(
            services_of(self.graph).trusting(self.trust),
            source,
            user_id=self.user_id,
            label=self.source_label,
            part_size=self.limits.part_size,
        )
        report = IngestionReport(name=source.name)
        try:
            report.state = await self._read_source(stored, report, force=force)
        except KgAgentError as error:
            report.reason = str(error)
        report.source_entity_key = stored.key
        report.parts = len(stored.parts)
        report.parts_read = report.parts - len(stored.unread)
        report.seconds = time.monotonic() - began
        if self.prices is not None:
            used = report.tokens["input_tokens"], report.tokens["output_tokens"]
            report.cost = sum(map(operator.mul, used, self.prices)) / PRICED_TOKENS
        return report

    async def _read_source(
        self, stored: StoredSource, report: IngestionReport, *, force: bool
    ) -> State:
        await stored.find()
        if stored.is_current and not stored.unread and not force:
            return "unchanged"
        await stored.claim(again=force)
        report.warnings += stored.warnings
        tools = self.graph.tools(
            user_id=self.user_id, source_entity_key=stored.key, trust=self.trust
        )
        offered = offered_together(choose_tools(tools, TOOLS)).values()
        reader = PartReader(
            self.model,
            [
                langchain_tool(tool, self.graph, without=("source", "source_text"))
                for tool in offered
            ],
            self.prompt,
            self.limits,
            said_on=stored.source.day,
            before_write=stored.save,
            report=report,
        )
        for number, part in enumerate(stored.parts, 1):
            if part not in stored.unread:
                continue
            written = report.written.total()
            pieces = split_text(part.text, QUERY_CHARACTERS)[:MAX_QUERIES]
            queries = [{"query": piece.text} for piece in pieces]
            # The words of the source itself are stored already.
            known = await tools.explore.call_text(
                {"queries": queries, "sources": False, "token_budget": KNOWN_TOKENS}
            )
            now = services_of(self.graph).write_context.clock()
            message = part_message(
                stored.source,
                part,
                number=number,
                count=len(stored.parts),
                known=known.text,
                now=now,
            )
            try:
                await reader.read(number, message)
            except PartAbandonedError as error:
                report.warnings.append(f"Part {number} was abandoned: {error}")
                continue
            if report.written.total() == written:
                report.warnings.append(f"Part {number}: nothing was recorded")
            await stored.save(read=part)
        return "incomplete" if stored.unread else "complete"
