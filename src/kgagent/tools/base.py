"""Tools: arguments that a model fills in, a description for it, and a typed result."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ValidationError

from kgagent.errors import InputError, KgAgentError, NodeNotFoundError
from kgagent.formatting import in_one_line
from kgagent.graph.reference_forms import is_generated_key
from kgagent.models.graph import GraphModel
from kgagent.models.plain import without_empty
from kgagent.models.request import MAX_VALUES
from kgagent.observing import within_tool
from kgagent.ontology import Ontology
from kgagent.operations import OperationOutcome, ToolCall
from kgagent.tools.context import ToolContext
from kgagent.tools.payload import (
    REPEAT_ARGUMENTS,
    Payload,
    ToolText,
    decode_arguments,
    dump,
    error_text,
    failure,
)
from kgagent.validation import accepted_names, check_size, explain_validation_error

KEY_SUFFIX = "entity_key"
SOURCE_KEY = "source_entity_key"
"""The only argument with that suffix that need not name an existing node."""

MAX_HINTS = 3
"""Unknown arguments that an error explains, and tools that it names for each."""

_log = logging.getLogger(__name__)


class ToolResult(GraphModel):
    """What a tool returns.

    Attributes:
        message: what was done or found, in one line.
    """

    message: Annotated[str, AfterValidator(in_one_line)]

    @property
    def error(self) -> str | None:
        """Why the tool failed, if a result is all that reports it."""
        return None

    async def detailed(self, context: ToolContext) -> "ToolResult":  # noqa: ARG002
        """This result for a call that is `verbose`."""
        return self

    def to_dict(self) -> Payload:
        """As JSON types; fields that are None, and empty values inside of records, are omitted."""
        dumped = self.model_dump(mode="json", exclude_none=True)
        return {name: without_empty(value) for name, value in dumped.items()}

    def to_text(self) -> str:
        """As a model reads it."""
        return self.message


ArgumentsT = TypeVar("ArgumentsT", bound=BaseModel)


class Tool(ABC, Generic[ArgumentsT]):
    """A tool of the agent. It belongs to no user: `BoundTool` binds it to one.

    Attributes:
        name: the name that the model calls.
        arguments: what the model fills in.
        result: what the tool returns.
        read_only: whether it only reads.
        reads_shared: whether it reads those of other owners too, if the host lets it.
        destructive: whether it may replace or remove stored data; ignored if it only reads.
        idempotent: whether repeating a call changes nothing but the expiry of a note; a read-only
            tool always is.
        needs_exact_references: whether nodes must be named exactly, because a mistake is hard to
            undo.
        asks_first: whether a surface can ask the user first, see `question`.
        text: the description for the model, if it is the same for every ontology.
    """

    name: str
    text: ClassVar[str] = ""
    arguments: type[ArgumentsT]
    result: ClassVar[type[ToolResult]]
    read_only: ClassVar[bool] = False
    reads_shared: ClassVar[bool] = True
    destructive: ClassVar[bool] = True
    idempotent: ClassVar[bool] = False
    needs_exact_references: bool = False
    asks_first: ClassVar[bool] = False

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return self.text

    async def question(self, context: ToolContext, arguments: ArgumentsT) -> str:
        """The text with which the user is asked to confirm a call that removes something.

        It changes nothing, names nodes and relationships as they are stored, and raises the errors
        of the call. It stays the same as long as the call would remove the same.
        """
        raise NotImplementedError

    def explain_invalid(self, error: ValidationError, given: Mapping[str, Any]) -> str:  # noqa: ARG002
        """Say what is wrong with the arguments that a model gave."""
        return explain_validation_error(error, self.arguments)

    def is_reference(self, name: str, arguments: ArgumentsT) -> bool:  # noqa: ARG002
        """Whether an argument that ends in `entity_key` may be the name of a node of the graph."""
        return True

    def needs_embedder(self, arguments: ArgumentsT) -> bool:  # noqa: ARG002
        """Whether a call waits until the embedder is loaded."""
        return False

    @abstractmethod
    async def run(self, context: ToolContext, arguments: ArgumentsT) -> ToolResult:
        """Run the tool.

        Raises:
            KgAgentError: it failed; the text becomes the tool's error.
        """


class _Question(Tool[Any]):
    """A tool that reads what a call of another tool would remove."""

    result = ToolResult
    read_only = True

    def __init__(self, tool: Tool[Any]) -> None:
        self._tool = tool
        self.name = f"{tool.name}.question"
        self.arguments = tool.arguments
        self.needs_exact_references = tool.needs_exact_references

    async def run(self, context: ToolContext, arguments: BaseModel) -> ToolResult:
        """Ask."""
        return ToolResult(message=await self._tool.question(context, arguments))


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

    def __init__(
        self, tool: Tool[Any], context: ToolContext, others: Mapping[str, type[BaseModel]]
    ) -> None:
        self._tool = tool
        self._others = others
        self._context = context
        self.name: str = tool.name
        self.arguments: type[BaseModel] = tool.arguments
        self.read_only: bool = tool.read_only
        self.destructive: bool = tool.destructive and not tool.read_only
        self.idempotent: bool = tool.idempotent or tool.read_only

    @property
    def neo4j_types(self) -> tuple[str, ...]:
        """The Neo4j types between which a call may have to choose; none if the labels of two nodes
        determine it.
        """
        return self._context.ontology.ambiguous_types

    def beside(self, names: Iterable[str]) -> "BoundTool":
        """This tool for an agent that can call only some tools, so that texts do not name
        others.
        """
        return BoundTool(self._tool, replace(self._context, offered=frozenset(names)), self._others)

    @property
    def description(self) -> str:
        """The description for the model."""
        return self._tool.description(self._context.ontology)

    async def __call__(self, /, *unnamed: Any, **arguments: Any) -> Payload:  # noqa: ANN401
        """Call the tool. Failures are part of the result; only cancellation is raised."""
        answer = await self._answer(arguments, is_named=not unnamed)
        if (
            isinstance(answer, ToolResult)
            and answer.error is None
            and arguments.get("format") == "text"
        ):
            short = {
                name: value
                for name, value in answer.to_dict().items()
                if name in {"message", "warnings"}
            }
            return {"success": True, **short, "text": answer.to_text()}
        return _payload(answer)

    async def call_text(self, arguments: Mapping[str, Any] | str | None) -> ToolText:
        """Call the tool as a model does: the answer is text, or JSON if the argument `format` says
        so.

        Args:
            arguments: the arguments by name, or a JSON object of them.
        """
        try:
            given = decode_arguments(arguments)
        except InputError as error:
            return ToolText.failed(failure(str(error)))
        answer = await self._answer(given, as_text=True)
        payload = _payload(answer)
        if isinstance(answer, str) or not payload["success"]:
            return ToolText.failed(payload)
        text = dump(payload) if given.get("format") == "json" else answer.to_text()
        return ToolText(text, is_error=False, payload=payload)

    async def question(self, arguments: Mapping[str, Any] | str | None) -> ToolText | None:
        """What a call would remove, for the user to confirm, or why it would fail; None if nobody
        need be asked.
        """
        if not self._tool.asks_first:
            return None
        return await BoundTool(_Question(self._tool), self._context, self._others).call_text(
            arguments
        )

    async def _answer(
        self, arguments: Mapping[str, Any], *, is_named: bool = True, as_text: bool = False
    ) -> ToolResult | str:
        """The result, or why the call failed."""
        call = ToolCall(self.name, self._context.user_id)
        with within_tool(self.name), self._context.observer.watch(call) as outcome:
            if not is_named:
                outcome.error = InputError.__name__
                return f"Pass the arguments of {self.name} by name"
            answer = await self._run(arguments, outcome, as_text=as_text)
        return answer  # noqa: RET504 - a context manager may suppress errors, as far as mypy knows

    async def _run(
        self, arguments: Mapping[str, Any], outcome: OperationOutcome, *, as_text: bool
    ) -> ToolResult | str:
        try:
            check_size(arguments, max_values=MAX_VALUES, noun=f"A call of {self.name}")
            valid = self.arguments.model_validate(arguments)
        except InputError as error:
            outcome.error = InputError.__name__
            return str(error)
        except ValidationError as error:
            outcome.error = InputError.__name__
            repeat = (
                REPEAT_ARGUMENTS
                if str(arguments.get("cursor") or "").strip()
                and "cursor" in self.arguments.model_fields
                else ""
            )
            texts = filter(
                None,
                (
                    self._tool.explain_invalid(error, arguments),
                    self._other_tools(arguments),
                    repeat,
                ),
            )
            return " ".join(
                text if text.endswith("?") else f"{text}." for text in texts
            ).removesuffix(".")
        if as_text and getattr(valid, "format", "json") is None:
            valid = valid.model_copy(update={"format": "text"})
        try:
            if not self.read_only:
                written = await self._run_valid(valid)
                return (
                    await self._detailed(written) if getattr(valid, "verbose", False) else written
                )
            if self._tool.needs_embedder(valid):
                await self._context.embedder_ready()
            async with self._context.admission.admitted(self._context.user_id):
                return await self._run_valid(valid)
        except KgAgentError as error:
            outcome.error = type(error).__name__
            return error_text(error)
        except Exception as error:
            outcome.error = type(error).__name__
            _log.exception("Tool %s failed", self.name, extra={"tool": self.name})
            return (
                f"{self.name} failed with an internal error. The log of the host program has the "
                f"details"
            )

    async def _detailed(self, written: ToolResult) -> ToolResult:
        """The result with the records; without them if they cannot be shown, since the write
        succeeded.
        """
        try:
            return await written.detailed(self._context)
        except Exception:
            _log.exception(
                "The records that %s wrote cannot be shown", self.name, extra={"tool": self.name}
            )
            return written

    async def _run_valid(self, arguments: BaseModel) -> ToolResult:
        """Run the tool on the nodes that references mean, and say which those are that are not
        exactly named.
        """
        names = [
            name
            for name in type(arguments).model_fields
            if name.endswith(KEY_SUFFIX) and name != SOURCE_KEY
        ]
        given = {
            name: value for name in names if isinstance(value := getattr(arguments, name), str)
        }
        asked = {
            name: reference
            for name, reference in given.items()
            if self._tool.is_reference(name, arguments) and not is_generated_key(reference)
        }
        context = self._context
        references = await context.resolver.find(
            context.user_id, asked.values(), loosely=not self._tool.needs_exact_references
        )
        keys = {name: references.key_or_text(reference) for name, reference in asked.items()}
        try:
            result = await self._tool.run(context, arguments.model_copy(update=keys))
        except NodeNotFoundError as error:
            hint = references.hint(asked.values()) or error.hint
            raise NodeNotFoundError(error.problem, hint) from error
        # The answer of a tool that reads has a token budget, and names the node itself.
        notices = [] if self.read_only else references.notices(asked.values())
        return (
            result.model_copy(update={"message": ". ".join((result.message, *notices))})
            if notices
            else result
        )

    def _other_tools(self, given: Iterable[str]) -> str:
        """Which other tools have arguments that this one does not have, such as "update_node takes
        notes".
        """
        known, hints = accepted_names(self.arguments), []
        for name in given:
            tools = [
                tool
                for tool, arguments in self._others.items()
                if name in accepted_names(arguments).values()
            ][:MAX_HINTS]
            if tools and name not in known:
                hints.append(
                    f"{' and '.join(tools)} {'takes' if len(tools) == 1 else 'take'} {name}"
                )
        return "; ".join(hints[:MAX_HINTS])

    def __repr__(self) -> str:
        """The tool's name."""
        return f"<tool {self.name}>"


def _payload(answer: ToolResult | str) -> Payload:
    if isinstance(answer, str):
        return failure(answer)
    payload = answer.to_dict()
    if answer.error is None:
        return {"success": True, **payload}
    del payload["message"]
    return {**failure(answer.error), **payload}
