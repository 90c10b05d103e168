"""The tools of a `SyncKnowledgeGraph` for OpenAI's models; `sync.pyi` has the signatures."""

from collections.abc import Mapping, Sequence

from kgagent.adapters.chosen_tools import choose_tools
from kgagent.adapters.openai.tools import OpenAITools, unwrap_tools
from kgagent.blocking import BlockingWrapper, waits_for
from kgagent.sync import SyncTool


@waits_for(OpenAITools)
class SyncOpenAITools(BlockingWrapper[OpenAITools]):
    """The tools of a `SyncKnowledgeGraph` as functions: as `OpenAITools`, and each call waits."""

    def __init__(
        self, tools: Mapping[str, SyncTool], *, names: Sequence[str] | None = None
    ) -> None:
        """Choose tools.

        Args:
            tools: the tools of a `SyncKnowledgeGraph`, bound to a user. Without names, the toolsets
                with which they were made are offered, else those of the graph's settings, by
                default "core".
            names: names of the tools to offer, instead of toolsets.

        Raises:
            ConfigurationError: a name is unknown, or the tools are those of a `KnowledgeGraph`.
        """
        wrapped, portal = unwrap_tools(choose_tools(tools, names))
        super().__init__(OpenAITools(wrapped), portal)
