"""Memory for agents of LangChain: recalls from the graph before a run and reads the conversation
into it afterwards.
"""

import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Annotated, Any, NotRequired, TypeVar

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    ModelResponse,
    PrivateStateAttr,
)
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from kgagent.adapters.event_loops import run_on, wait_on
from kgagent.answers.fence import fenced
from kgagent.ingestion import IngestionReport, Ingestor, Limits, Source, Turn
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.sync import SyncKnowledgeGraph
from kgagent.tools.read_results import DEFAULT_TOKEN_BUDGET
from kgagent.validation import check_user_id

MAX_QUERY = 2_000
"""Characters of a message that are searched for."""

ResultT = TypeVar("ResultT")

UserOf = Callable[[Runtime[Any]], str]
Update = dict[str, Any]

_log = logging.getLogger(__name__)


class MemoryState(AgentState[Any]):
    """What the middleware keeps during a run."""

    recalled: NotRequired[Annotated[str, PrivateStateAttr]]
    first_new_message: NotRequired[Annotated[str | None, PrivateStateAttr]]


class MemoryMiddleware(AgentMiddleware[MemoryState, Any, Any]):
    """Gives an agent the memory of one user.

    Before a run, the newest message is searched for, and what was found stands in every model call
    of the run as a message of its own before it, which says that it is data and no instruction.
    Nothing is added if nothing relevant was found; a graph with few records cannot tell. After the
    run, with `model`, the new messages of the user and the agent are read into the graph. Failures
    are logged and never fail the run.

        agent = create_agent(model, middleware=[MemoryMiddleware(graph, user_id="me", model=model)])
    """

    state_schema = MemoryState

    def __init__(
        self,
        graph: KnowledgeGraph | SyncKnowledgeGraph,
        *,
        user_id: str | UserOf,
        token_budget: int = DEFAULT_TOKEN_BUDGET,
        model: BaseChatModel | None = None,
        limits: Limits | None = None,
        conversation: str = "Conversation",
        speaker: str = "User",
        on_report: Callable[[IngestionReport], None] | None = None,
    ) -> None:
        """Prepare.

        Args:
            graph: an open graph. `invoke` needs a `SyncKnowledgeGraph`, or a thread other than that
                of the graph's event loop.
            user_id: owner of the graph, or a function that returns it for a run, such as
                `lambda runtime: runtime.context.user_id`.
            token_budget: maximum number of tokens of what is recalled, 100 to 20,000.
            model: reads the messages into the graph after each run; None only recalls.
            limits: limits of that reading.
            conversation: name of the source node of the messages.
            speaker: name of the user in the conversation, unless a message has a name.
            on_report: is called with the report of each reading.

        Raises:
            InputError: the user id is empty.
        """
        super().__init__()
        if not callable(user_id):
            check_user_id(user_id)
        self._graph = graph.graph if isinstance(graph, SyncKnowledgeGraph) else graph
        self._user_id = user_id
        self._token_budget = token_budget
        self._model = model
        self._limits = limits or Limits()
        self._conversation = conversation
        self._speaker = speaker
        self._on_report = on_report

    def before_agent(self, state: MemoryState, runtime: Runtime[Any]) -> Update:
        """Recall what is known about the newest message."""
        return self._wait(self._before(state["messages"], self._user(runtime)))

    async def abefore_agent(self, state: MemoryState, runtime: Runtime[Any]) -> Update:
        """Recall what is known about the newest message."""
        return await run_on(self._graph.loop, self._before(state["messages"], self._user(runtime)))

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Put what was recalled before the new messages."""
        return handler(_with_recalled(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Put what was recalled before the new messages."""
        return await handler(_with_recalled(request))

    def after_agent(self, state: MemoryState, runtime: Runtime[Any]) -> None:
        """Read the new messages into the graph."""
        self._wait(self._remember(state, self._user(runtime)))

    async def aafter_agent(self, state: MemoryState, runtime: Runtime[Any]) -> None:
        """Read the new messages into the graph."""
        await run_on(self._graph.loop, self._remember(state, self._user(runtime)))

    def _user(self, runtime: Runtime[Any]) -> str:
        return self._user_id if isinstance(self._user_id, str) else self._user_id(runtime)

    def _wait(self, coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
        return wait_on(self._graph.loop, coroutine, instead="ainvoke")

    async def _before(self, messages: Sequence[AnyMessage], user_id: str) -> Update:
        new = _new_messages(messages)
        newest = new[-1].text[:MAX_QUERY].strip() if new else ""
        recalled = await self._recall(newest, user_id) if newest else ""
        return {"recalled": recalled, "first_new_message": new[0].id if new else None}

    async def _recall(self, query: str, user_id: str) -> str:
        search = self._graph.tools(user_id=user_id).hybrid_search
        answer = await search.call_text({"query": query, "token_budget": self._token_budget})
        if answer.is_error:
            _log.warning("Nothing was recalled: %s", answer.text)
        payload = answer.payload
        has_results = payload.get("objects") or payload.get("relationships")
        is_relevant = has_results and payload.get("is_relevant") is not False
        return fenced(answer.text) if is_relevant else ""

    async def _remember(self, state: MemoryState, user_id: str) -> None:
        turns = self._turns(state)
        if self._model is None or not turns:
            return
        try:
            ingestor = Ingestor(self._graph, self._model, user_id=user_id, limits=self._limits)
            report = await ingestor.ingest(
                Source(
                    id=state.get("first_new_message") or "", name=self._conversation, turns=turns
                )
            )
        except Exception:
            _log.exception("The conversation was not read into the graph")
            return
        if self._on_report is not None:
            self._on_report(report)

    def _turns(self, state: MemoryState) -> tuple[Turn, ...]:
        messages = state["messages"]
        first = next(
            (i for i, m in enumerate(messages) if m.id == state.get("first_new_message")), None
        )
        if first is None:
            return ()
        return tuple(
            Turn(
                speaker=message.name
                or (self._speaker if isinstance(message, HumanMessage) else "Agent"),
                text=str(message.text),
            )
            for message in messages[first:]
            if isinstance(message, HumanMessage | AIMessage) and message.text.strip()
        )


def _new_messages(messages: Sequence[AnyMessage]) -> list[HumanMessage]:
    """The messages of the user since the agent last said something."""
    last_answer = max(
        (i for i, message in enumerate(messages) if isinstance(message, AIMessage)), default=-1
    )
    return [message for message in messages[last_answer + 1 :] if isinstance(message, HumanMessage)]


def _with_recalled(request: ModelRequest[Any]) -> ModelRequest[Any]:
    recalled = str(request.state.get("recalled", ""))
    if not recalled:
        return request
    first = request.state.get("first_new_message")
    at = next((i for i, message in enumerate(request.messages) if message.id == first), 0)
    before, after = request.messages[:at], request.messages[at:]
    return request.override(messages=[*before, HumanMessage(recalled), *after])
