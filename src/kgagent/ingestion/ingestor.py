"""The public entry point of ingestion: reads sources into the graph of one user."""

from collections.abc import Sequence

from langchain_core.language_models import BaseChatModel

from kgagent.adapters.event_loops import run_on, wait_on
from kgagent.answers.token_budget import estimated_tokens
from kgagent.errors import ConfigurationError
from kgagent.formatting import counted
from kgagent.ingestion.limits import Limits
from kgagent.ingestion.model_tools import DEFAULT_TOOLS, ModelTools
from kgagent.ingestion.report import IngestionReport
from kgagent.ingestion.run import IngestionRun, RunConfig
from kgagent.ingestion.source import Source
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.ontology import Ontology
from kgagent.sync import SyncKnowledgeGraph

DEFAULT_LIMITS = Limits()


class Ingestor:
    """Reads sources into the graph of one user with a chat model.

    The model searches for what is already known, then creates, updates and annotates nodes and
    relationships with the tools. It chooses neither the user nor the source that notes name.

        report = await Ingestor(graph, model, user_id="me").ingest(Source(name="Call with Ruth",
        turns=turns))
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
            user_id: owner of the graph.
            limits: limits of each run.
            source_label: label of source nodes; by default the only label of the ontology with a
                dated key.
            tools: names of the tools to offer; none of the default tools deletes anything.
            instructions: added to the system prompt, for example who "I" is in the sources. It is
                trusted.

        Raises:
            InputError: the user id is empty, or the ontology does not have the label.
            ConfigurationError: the model does not support tools, a tool is unknown, or the label of
                sources cannot be determined.
        """
        opened = graph.graph if isinstance(graph, SyncKnowledgeGraph) else graph
        label = _source_label(opened.ontology, source_label)
        model_tools = ModelTools(opened.tools(user_id=user_id), names=tools, source_label=label)
        try:
            bound = model.bind_tools(model_tools.schemas)
        except NotImplementedError:
            raise ConfigurationError(
                f"{type(model).__name__} does not support tools: it has no bind_tools. Use a chat "
                f"model that does"
            ) from None
        self._config = RunConfig(
            graph=opened,
            model=bound,
            user_id=user_id,
            limits=limits,
            tools=tuple(tools),
            tool_tokens=estimated_tokens(str(model_tools.schemas)),
            source_label=label,
            instructions=instructions,
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
        return await run_on(self._config.graph.loop, self._ingest(source, force=force))

    def ingest_sync(self, source: Source, *, force: bool = False) -> IngestionReport:
        """Read a source and block until the run ends; for a `SyncKnowledgeGraph`, or from another
        thread.

        Raises:
            ConfigurationError: the call would block the graph's own event loop, or that loop is
                closed.
        """
        return wait_on(
            self._config.graph.loop, self._ingest(source, force=force), instead="await ingest"
        )

    async def _ingest(self, source: Source, *, force: bool) -> IngestionReport:
        return await IngestionRun(self._config, source, force=force).execute()


def _source_label(ontology: Ontology, label: str | None) -> str:
    if label is not None:
        ontology.label(label)
        return label
    dated = [name for name, rule in ontology.labels.items() if rule.key_includes_time]
    if len(dated) != 1:
        raise ConfigurationError(
            f"Cannot determine the label of sources: the ontology has "
            f"{counted(len(dated), 'label')} with "
            f"${{created_at}} in the key. Pass source_label, one of {', '.join(ontology.labels)}"
        )
    return dated[0]
