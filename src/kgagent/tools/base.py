"""Tools: arguments that a model fills in, a description for it, and a typed result."""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from kgagent.errors import InputError, KgAgentError
from kgagent.models.graph import GraphModel, without_empty
from kgagent.observing import OperationOutcome, ToolCall, within_tool
from kgagent.ontology import Ontology
from kgagent.tools.context import ToolContext
from kgagent.tools.payload import MAX_ARGUMENTS, Payload, dump, error_text, failure
from kgagent.validation_errors import explain_validation_error

_log = logging.getLogger(__name__)


class ToolResult(GraphModel):
    """What a tool returns.

    Attributes:
        message: what was done or found, in one line.
    """

    message: str

    @property
    def error(self) -> str | None:
        """Why the tool failed, if a result is all that reports it."""
        return None

    def to_dict(self) -> Payload:
        """As JSON types; fields that are None, and empty values inside of records, are omitted."""
        payload = self.model_dump(mode="json", exclude_none=True)
        return {name: without_empty(value) for name, value in payload.items()}


ArgumentsT = TypeVar("ArgumentsT", bound=BaseModel)


class Tool(ABC, Generic[ArgumentsT]):
    """A tool of the agent. It belongs to no user: `BoundTool` binds it to one.

    Attributes:
        name: the name that the model calls.
        arguments: what the model fills in.
        result: what the tool returns.
        read_only: whether it only reads.
        destructive: whether it may replace or remove stored data; ignored if it only reads.
        idempotent: whether repeating a call changes nothing but the expiry of a note; a read-only tool always is.
    """

    name: ClassVar[str]
    arguments: type[ArgumentsT]
    result: ClassVar[type[ToolResult]]
    read_only: ClassVar[bool] = False
    destructive: ClassVar[bool] = True
    idempotent: ClassVar[bool] = False

    @abstractmethod
    def description(self, ontology: Ontology) -> str:
        """The description for the model."""

    @abstractmethod
    async def run(self, context: ToolContext, arguments: ArgumentsT) -> ToolResult:
        """Run the tool.

        Raises:
            KgAgentError: it failed; the text becomes the tool's error.
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
        self.arguments: type[BaseModel] = tool.arguments
        self.read_only: bool = tool.read_only
        self.destructive: bool = tool.destructive and not tool.read_only
        self.idempotent: bool = tool.idempotent or tool.read_only

    @property
    def description(self) -> str:
        """The description for the model."""
        return self._tool.description(self._context.ontology)

    async def __call__(self, /, *unnamed: Any, **arguments: Any) -> Payload:  # noqa: ANN401
        """Call the tool. Failures are part of the result; only cancellation is raised."""
        call = ToolCall(self.name, self._context.user_id)
        with within_tool(self.name), self._context.observer.watch(call) as outcome:
            if unnamed or len(arguments) > MAX_ARGUMENTS:
                outcome.error = InputError.__name__
                return failure(f"Pass the arguments of {self.name} by name, at most {MAX_ARGUMENTS:,}")
            payload = await self._run(arguments, outcome)
        return payload  # noqa: RET504 - a context manager may suppress errors, as far as mypy knows

    async def call_json(self, arguments: str | None) -> str:
        """Call the tool with its arguments as a JSON object; the result is a JSON object too."""
        try:
            decoded = json.loads(arguments) if arguments and arguments.strip() else {}
        except (ValueError, RecursionError) as error:
            return dump(failure(f"Arguments are not JSON: {error}"))
        if not isinstance(decoded, dict):
            return dump(failure(f"Arguments must be a JSON object, got {type(decoded).__name__}"))
        return dump(await self(**decoded))

    async def _run(self, arguments: Mapping[str, Any], outcome: OperationOutcome) -> Payload:
        try:
            valid = self.arguments.model_validate(arguments)
        except ValidationError as error:
            outcome.error = InputError.__name__
            return failure(explain_validation_error(error, self.arguments))
        try:
            result = await self._tool.run(self._context, valid)
            return _payload(result)
        except KgAgentError as error:
            outcome.error = type(error).__name__
            return failure(error_text(error))
        except Exception as error:
            outcome.error = type(error).__name__
            _log.exception("Tool %s failed", self.name, extra={"tool": self.name})
            return failure(f"{self.name} failed with an internal error. The log of the host program has the details")

    def __repr__(self) -> str:
        """The tool's name."""
        return f"<tool {self.name}>"


def _payload(result: ToolResult) -> Payload:
    payload = result.to_dict()
    if result.error is None:
        return {"success": True, **payload}
    del payload["message"]
    return {**failure(result.error), **payload}
