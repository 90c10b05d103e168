"""Asks the user of a client before a call removes something.

A client of revision 2026-07-28 gets the question as the result of its call, and repeats the call with the answer; an
earlier one gets a request while its call waits.
"""

import hashlib

from mcp.shared.exceptions import MCPError
from mcp.types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from kgagent.adapters.mcp.calls import Context
from kgagent.tools import BoundTool, ToolText
from kgagent.tools.payload import failure

KEY = "confirm"
"""Names the question among the inputs of a call."""

FORM = {"type": "object", "properties": {}}
"""A form without fields, which clients show as a message to accept or decline."""

_OPTION = "If the user saw no question, this client cannot show it, and `kgagent mcp --no-confirm` asks none"


async def confirm(
    tool: BoundTool, params: CallToolRequestParams, context: Context
) -> InputRequiredResult | ToolText | None:
    """Ask the user if the call would remove something and the client can ask.

    Returns:
        None if the call may run; the question, which the client shows before it repeats the call; or the answer to a
        call that fails or that the user did not confirm.
    """
    asking = tool.asking()
    if asking is None or not _can_ask(context):
        return None
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return await _ask_by_result(asking, params)
    return await _ask_by_request(asking, params, context)


def _can_ask(context: Context) -> bool:
    """Whether the client shows forms; one that names no mode does."""
    capabilities = context.session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


async def _ask_by_result(asking: BoundTool, params: CallToolRequestParams) -> InputRequiredResult | ToolText | None:
    question = await asking.call_text(params.arguments)
    if question.is_error:
        return question
    # Nothing is kept between the two calls, which may reach different processes: an answer must be one to this text.
    state = hashlib.sha256(f"{asking.name}\n{question.text}".encode()).hexdigest()
    answer = (params.input_responses or {}).get(KEY)
    if answer is None or params.request_state != state:
        request = ElicitRequest(params=ElicitRequestFormParams(message=question.text, requested_schema=FORM))
        return InputRequiredResult(input_requests={KEY: request}, request_state=state)
    return _outcome(question.text, answer.action if isinstance(answer, ElicitResult) else "no answer")


async def _ask_by_request(asking: BoundTool, params: CallToolRequestParams, context: Context) -> ToolText | None:
    confirmed = None
    while True:
        question = await asking.call_text(params.arguments)
        if question.is_error:
            return question
        if question.text == confirmed:
            return None
        try:
            answer = await context.session.elicit_form(question.text, FORM, related_request_id=context.request_id)
        except MCPError as error:
            return _outcome(question.text, f"the error {error.message}")
        if (refused := _outcome(question.text, answer.action)) is not None:
            return refused
        confirmed = question.text


def _outcome(question: str, answer: str) -> ToolText | None:
    """None if the user confirmed."""
    if answer == "accept":
        return None
    return ToolText.failed(
        failure(
            f"Nothing was changed, because the user did not confirm ({answer}): {question}. Do not repeat the call "
            f"unless the user asks for it. {_OPTION}"
        )
    )
