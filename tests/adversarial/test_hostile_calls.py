"""Hostile calls are refused with little work, so that no call holds up the users who share the
event loop.
"""

from pydantic import ValidationError

from kgagent.errors import InputError
from kgagent.models.request import MAX_VALUES
from kgagent.tools.registry import TOOLS
from kgagent.validation import check_size
from tests.adversarial.hostile_calls import Call, hostile_calls

TOOL_OF = {tool.name: tool for tool in TOOLS}
MOST_ERRORS = 2 * MAX_VALUES
"""Errors that pydantic makes for a call; each takes some microseconds."""


def refusal(call: Call) -> str | ValidationError | None:
    """Why the call is refused, by the check of its size or by validation; None if it is valid."""
    try:
        check_size(call.arguments, max_values=MAX_VALUES, noun="A call")
        TOOL_OF[call.tool].arguments.model_validate(call.arguments)
    except InputError as error:
        return str(error)
    except ValidationError as error:
        return error
    return None


def test_no_hostile_call_makes_very_many_errors() -> None:
    made = {
        f"{call.tool} {call.name}": error.error_count()
        for call in hostile_calls(TOOL_OF)
        if isinstance(error := refusal(call), ValidationError)
    }
    assert len(made) > 200
    assert {name: count for name, count in made.items() if count > MOST_ERRORS} == {}
