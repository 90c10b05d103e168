"""Reading sources into the graph of one user with a chat model that calls tools."""

from collections.abc import Sequence

from langchain_core.language_models import BaseChatModel

from kgagent.adapters.event_loops import run_on, wait_on
from kgagent.errors import ConfigurationError
from kgagent.ingestion.functions import DEFAULT_TOOLS, Functions
from kgagent.ingestion.limits import Limits
from kgagent.ingestion.report import IngestionReport
from kgagent.ingestion.run import Run, Setup
from kgagent.ingestion.source import Source
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.ontology import Ontology
from kgagent.sync import SyncKnowledgeGraph

DEFAULT_LIMITS = Limits()


class Ingestor:
    """Reads sources into the graph of one user.

    The model explores what is known, then creates, updates and annotates through the tools. It chooses neither the
    user nor the source that notes name.

        report = await Ingestor(graph, model, user_id="me").ingest(Source(name="Call with Ruth", turns=turns))
    """

    def __init__(
        self,
        graph: KnowledgeGraph | SyncKnowledgeGraph,
        model: BaseChatModel,
        *,
        user_id: str,
        limits: Limits = DEFAULT_LIMITS,
        source_label: str | None = None,
        tools: Sequence[str] = DEFAULT_TOOLS,
        instructions: str = "",
    ) -> None:
        """Prepare.

        Args:
            graph: an open graph.
            model: any LangChain chat model that calls tools.
            user_id: whose graph.
            limits: how much a run may do.
            source_label: label of the nodes of sources; None takes the ontology's only label whose key is dated.
            tools: names of those that the model is offered; none of the usual ones removes anything.
            instructions: what the model is told beside the rules, such as who "I" is in the sources. It is trusted.

        Raises:
            InputError: the user id is empty, or the ontology has no such label.
            ConfigurationError: the model calls no tools, a tool is unknown, or no label is that of sources.
        """
        opened = graph.graph if isinstance(graph, SyncKnowledgeGraph) else graph
        label = _source_label(opened.ontology, source_label)
        functions = Functions(opened.tools(user_id=user_id), names=tools, source_label=label)
        try:
            bound = model.bind_tools(functions.schemas)
        except NotImplementedError:
            raise ConfigurationError(
                f"{type(model).__name__} calls no tools: it has no bind_tools. Take a chat model that does"
            ) from None
        self._setup = Setup(
            graph=opened,
            model=bound,
            user_id=user_id,
            limits=limits,
            tools=tuple(tools),
            source_label=label,
            instructions=instructions,
        )

    async def ingest(self, source: Source, *, force: bool = False) -> IngestionReport:
        """Read a source; one that was read to the end changes nothing and calls no model.

        What goes wrong on the way ends the run and is told in the report. Another call goes on from there.

        Args:
            source: what to read.
            force: whether a source that was read before, or refused, is read again from its beginning.

        Raises:
            ConfigurationError: the event loop that the graph was opened on has ended.
        """
        return await run_on(self._setup.graph.loop, self._ingest(source, force=force))

    def ingest_sync(self, source: Source, *, force: bool = False) -> IngestionReport:
        """Read a source and wait; for a `SyncKnowledgeGraph`, or from another thread than the graph's loop.

        Raises:
            ConfigurationError: it would block the graph's own event loop, or that has ended.
        """
        return wait_on(self._setup.graph.loop, self._ingest(source, force=force), instead="await ingest")

    async def _ingest(self, source: Source, *, force: bool) -> IngestionReport:
        return await Run(self._setup, source, force=force).apply()


def _source_label(ontology: Ontology, wanted: str | None) -> str:
    if wanted is not None:
        ontology.label(wanted)
        return wanted
    dated = [label for label, rule in ontology.labels.items() if rule.is_dated]
    if len(dated) != 1:
        raise ConfigurationError(
            f"Which label is that of sources? The ontology has {len(dated)} whose key holds ${{created_at}}; "
            f"give source_label, one of {', '.join(ontology.labels)}"
        )
    return dated[0]
