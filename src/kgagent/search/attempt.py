"""Steps that a search can do without: one that fails or takes too long becomes a warning."""

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from kgagent.errors import KgAgentError, SearchError

INTERNAL_ERROR = "internal error; see the log of the host program"

_log = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Failure:
    """The error of a step of a search, and the reason for a person to read."""

    reason: str
    error: Exception


async def attempt(
    step: Awaitable[ResultT], timeout: float, *, default: ResultT
) -> tuple[ResultT, Failure | None]:
    """Run a step that a search can do without: an error becomes the default and a `Failure`.

    Args:
        step: the step.
        timeout: seconds that it may take.
        default: the result if it fails.
    """
    try:
        async with asyncio.timeout(timeout):
            return await step, None
    except TimeoutError as error:
        return default, Failure(f"it took longer than {timeout:g} s", error)
    except KgAgentError as error:
        return default, Failure(str(error), error)
    except Exception as error:
        # A bug in one step must not discard the results of the others.
        _log.exception("A step of a search failed")
        return default, Failure(INTERNAL_ERROR, error)


def failed(failures: Sequence[Failure], message: str) -> Exception:
    """The error of a search that has nothing left after some failures.

    It is an unexpected error itself if there was no other, and one error that already says what
    failed; else a `SearchError` with the message.
    """
    if failures and all(failure.reason == INTERNAL_ERROR for failure in failures):
        return failures[0].error
    if len(failures) == 1 and isinstance(failures[0].error, SearchError):
        return failures[0].error
    return SearchError(message)
