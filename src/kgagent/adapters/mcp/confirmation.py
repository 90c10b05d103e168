"""Asks the user of a client before a call removes something.

The client gets the question as the result of its call, and repeats the call with the answer
(revision 2026-07-28).
"""

import hashlib
from typing import TYPE_CHECKING

from mcp.types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from kgagent.adapters.mcp.calls import Context
from kgagent.tools.payload import ToolText, failure

if TYPE_CHECKING:
    from kgagent.tools import BoundTool

KEY = "confirm"
"""Names the question among the inputs of a call."""

FORM = {"type": "object", "properties": {}}
"""A form without fields, which clients show as a message to accept or decline."""

_OPTION = (
    "If the user saw no question, this client cannot show it, and `kgagent mcp --no-confirm` turns "
    "confirmation off"
)


async def confirm(
    tool: "BoundTool", params: CallToolRequestParams, context: Context
) -> InputRequiredResult | ToolText | None:
    """Ask the user if the call would remove something and the client can ask.

    Returns:
        None if the call may run; the question, which the client shows before it repeats the call;
        or the answer to a call that fails or that the user did not confirm.
    """
    question = await tool.question(params.arguments) if _can_ask(context) else None
    if question is None or question.is_error:
        return question
    # Nothing is kept between the two calls, which may reach different processes: an answer must be
    # one to this text.
    state = hashlib.sha256(f"{tool.name}\n{question.text}".encode()).hexdigest()
    answer = (params.input_responses or {}).get(KEY)
    if answer is None or params.request_state != state:
        request = ElicitRequest(
            params=ElicitRequestFormParams(message=question.text, requested_schema=FORM)
        )
        return InputRequiredResult(input_requests={KEY: request}, request_state=state)
    action = answer.action if isinstance(answer, ElicitResult) else "no answer"
    return None if action == "accept" else _not_confirmed(question.text, action)


def _can_ask(context: Context) -> bool:
    """Whether the client takes a question as a result and shows forms; one that names no mode
    does.
    """
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return False
    capabilities = context.session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _not_confirmed(question: str, answer: str) -> ToolText:
    return ToolText.failed(
        failure(
            f"Nothing was changed, because the user did not confirm ({answer}): {question}. Do not "
            f"repeat the call "
            f"unless the user asks for it. {_OPTION}"
        )
    )
