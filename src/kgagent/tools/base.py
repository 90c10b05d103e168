"""What a tool is: arguments that a model can fill in, a description for it, and a handler that never raises into it."""

import json
import logging
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError

from kgagent.errors import InputError, KgAgentError, NodeNotFoundError
from kgagent.graph.live_schema import LiveSchemaReader
from kgagent.graph.node_merger import NodeMerger
from kgagent.graph.nodes import NodeRepository, NodeWriter
from kgagent.graph.record_writer import WriteContext
from kgagent.graph.relationship_deleter import RelationshipDeleter
from kgagent.graph.relationship_restorer import RelationshipRestorer
from kgagent.graph.relationship_writer import RelationshipWriter
from kgagent.graph.relationships import RelationshipRepository
from kgagent.models.search import MAX_HOPS
from kgagent.observing import NULL_OBSERVER, Observer, OperationOutcome, ToolCall, within_tool
from kgagent.ontology import Ontology
from kgagent.patterns.search import PatternSearch
from kgagent.retrieval import RetrievalService
from kgagent.validation import validate

Payload = dict[str, Any]
"""What a tool answers: {"success": true, "message": …, …} or {"success": false, "error": …}."""

MAX_ERROR_LENGTH = 2_000
"""Characters of an error."""

WHERE_KEYS_ARE = "explore and hybrid_search tell the entity_key of a node"
"""What an error adds where a key is no node's: a model may have given a name."""

_log = logging.getLogger(__name__)


Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=20_000)]
FilledText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000)]
ShortText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


def _without_control_characters(name: str) -> str:
    if any(unicodedata.category(c) == "Cc" and c not in "\t\n\r" for c in name):
        raise PydanticCustomError("control", "must hold no control characters but tabs and line breaks")
    return name


NodeName = Annotated[FilledText, AfterValidator(_without_control_characters)]
"""A name; tabs and line breaks may stand in it, as they come along with copied text and read as spaces."""

EntityKey = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
    Field(description="entity_key of the node, as a tool returned it."),
]


ExpandHops = Annotated[
    int | None,
    Field(
        ge=0,
        le=MAX_HOPS,
        description="Steps to go on from relationships that match to those next to them, like the query or not, for "
        'questions that name only where to begin: 2 for "where was the mother of my mentor born?". Left out: one step, '
        "to those that reach the threshold too.",
    ),
]


class Arguments(BaseModel):
    """Base of all tools' arguments: unknown ones are refused, so that a slip of the model's does not pass unseen."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True)
class ToolContext:
    """What the tools work on, bound to one user.

    Attributes:
        source_entity_key: the node of the source that is being read; where there is one, every note names it, whatever
            the model says.
    """

    user_id: str
    ontology: Ontology
    nodes: NodeRepository
    relationships: RelationshipRepository
    retrieval: RetrievalService
    live_schema: LiveSchemaReader
    writing: WriteContext
    patterns: PatternSearch
    undo_window: timedelta = timedelta(days=30)
    source_entity_key: str | None = None
    observer: Observer = NULL_OBSERVER

    def relationship_writer(self) -> RelationshipWriter:
        """Writes the user's relationships."""
        return RelationshipWriter(self.relationships, self.writing, user_id=self.user_id)

    def relationship_deleter(self) -> RelationshipDeleter:
        """Deletes the user's relationships."""
        return RelationshipDeleter(self.relationships, self.writing, user_id=self.user_id, window=self.undo_window)

    def relationship_restorer(self) -> RelationshipRestorer:
        """Restores the user's relationships."""
        return RelationshipRestorer(self.relationships, self.writing, user_id=self.user_id)

    def node_merger(self) -> NodeMerger:
        """Merges the user's nodes."""
        return NodeMerger(self.nodes, self.relationships, self.writing, user_id=self.user_id)

    def node_writer(self) -> NodeWriter:
        """Writes the user's nodes."""
        return NodeWriter(self.nodes, self.writing, user_id=self.user_id)


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


class Tool(ABC, Generic[ArgumentsT]):
    """A tool of the agent.

    Attributes:
        name: as the model calls it.
        arguments: what the model fills in.
        read_only: whether it changes nothing.
        destructive: whether it may replace or remove what is stored; of no account where it is read-only.
        idempotent: whether the same call, made again, changes nothing but how long a note counts; a read-only tool
            always is.
    """

    name: ClassVar[str]
    arguments: type[ArgumentsT]
    read_only: ClassVar[bool] = False
    destructive: ClassVar[bool] = True
    idempotent: ClassVar[bool] = False

    @abstractmethod
    def description(self, ontology: Ontology) -> str:
        """What the model is told of the tool."""

    @abstractmethod
    async def run(self, context: ToolContext, arguments: ArgumentsT) -> Payload:
        """Do the work.

        Returns:
            What the tool answers beside `success`.

        Raises:
            KgAgentError: it could not be done; the text becomes the tool's error.
        """


class BoundTool:
    """A tool bound to one user; call it with the model's arguments.

    Attributes:
        name: name of the tool.
        description: what the tool does, for a model.
        arguments: model of the arguments.
        read_only: whether the tool changes nothing.
        destructive: whether the tool may replace or remove stored data.
        idempotent: whether a repeated call changes nothing more.
    """

    def __init__(self, tool: Tool[Any], context: ToolContext) -> None:
        self._tool = tool
        self._context = context
        self.name: str = tool.name
        self.description: str = tool.description(context.ontology)
        self.arguments: type[Arguments] = tool.arguments
        self.read_only: bool = tool.read_only
        self.destructive: bool = tool.destructive and not tool.read_only
        self.idempotent: bool = tool.idempotent or tool.read_only

    async def __call__(self, /, *unnamed: Any, **arguments: Any) -> Payload:  # noqa: ANN401
        """Call the tool; what goes wrong is in the answer, and nothing is raised but a cancellation."""
        call = ToolCall(self.name, self._context.user_id)
        with within_tool(self.name), self._context.observer.watch(call) as outcome:
            if unnamed:
                outcome.error = InputError.__name__
                return failure(f"Give the arguments of {self.name} by name")
            answer = await self._answer(arguments, outcome)
        return answer  # noqa: RET504 - a context manager may hold errors back, as far as mypy knows

    async def call_json(self, arguments: str | None) -> str:
        """Call the tool with arguments as a JSON object; the answer is a JSON object too."""
        try:
            decoded = json.loads(arguments) if arguments and arguments.strip() else {}
        except (ValueError, RecursionError) as error:
            return dump(failure(f"Arguments are not JSON: {error}"))
        if not isinstance(decoded, dict):
            return dump(failure(f"Arguments must be a JSON object, got {type(decoded).__name__}"))
        return dump(await self(**decoded))

    async def _answer(self, arguments: Mapping[str, Any], outcome: OperationOutcome) -> Payload:
        try:
            checked = validate(self.arguments, arguments)
            return {"success": True, **await self._tool.run(self._context, checked)}
        except KgAgentError as error:
            outcome.error = type(error).__name__
            return refusal(error)
        except Exception as error:
            outcome.error = type(error).__name__
            _log.exception("Tool %s failed", self.name, extra={"tool": self.name})
            return failure(f"{self.name} failed inside; nothing more is known. It is in the log of the host program")

    def __repr__(self) -> str:
        """The tool's name."""
        return f"<tool {self.name}>"


class BoundTools(Mapping[str, BoundTool]):
    """Tools by name, each of them an attribute too."""

    def __init__(self, tools: Mapping[str, BoundTool]) -> None:
        self._tools = dict(tools)

    def __getitem__(self, name: str) -> BoundTool:
        """The tool of that name."""
        return self._tools[name]

    def __getattr__(self, name: str) -> BoundTool:
        """The tool of that name."""
        if name.startswith("_") or name not in self._tools:
            raise AttributeError(f"no tool is called {name!r}; there are {', '.join(self._tools)}")
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._tools)

    def __len__(self) -> int:
        """How many tools there are."""
        return len(self._tools)


def failure(error: str) -> Payload:
    """The answer of a tool that could not do its work; its error is one line that any surface can write."""
    line = " ".join("".join(c if c.isprintable() else " " for c in error).split())
    return {"success": False, "error": line if len(line) <= MAX_ERROR_LENGTH else line[: MAX_ERROR_LENGTH - 3] + "..."}


def refusal(error: KgAgentError) -> Payload:
    """The answer of a tool that was refused; where a key is no node's, it also says which tools tell keys."""
    hint = f". {WHERE_KEYS_ARE}" if isinstance(error, NodeNotFoundError) else ""
    return failure(f"{error}{hint}")


def dump(payload: Payload) -> str:
    """A tool's answer as JSON."""
    return json.dumps(payload, ensure_ascii=False)
