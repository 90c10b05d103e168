"""How much a run may do."""

from pydantic import Field

from kgagent.models.request import RequestModel


class Limits(RequestModel):
    """How much a run may do.

    Where tokens or seconds run out, the run stops, and the next goes on from there. A part that takes too many steps,
    or whose model repeats itself, is given up: the run goes on with the next part, and another run begins it anew.

    Attributes:
        part_tokens: estimated tokens of a part of the source.
        steps_per_part: answers of the model for one part.
        calls_per_step: calls of tools in one answer; those beyond it are not carried out.
        same_call: how often one call may be made in a part with the same arguments.
        answer_characters: of a tool's answer, as the model sees it.
        tokens: of all requests and answers of a run, as the model counts them, else estimated.
        seconds: that a run may take; a call of a tool that is under way is waited for.
    """

    part_tokens: int = Field(2_000, ge=50, le=100_000)
    steps_per_part: int = Field(20, ge=1)
    calls_per_step: int = Field(10, ge=1)
    same_call: int = Field(3, ge=1)
    answer_characters: int = Field(20_000, ge=200)
    tokens: int = Field(1_000_000, ge=1)
    seconds: float = Field(900.0, gt=0)
