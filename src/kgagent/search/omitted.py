"""Records whose embeddings another model made: semantic search omits them, which every search
says.
"""

import time
from dataclasses import dataclass

from kgagent.formatting import beginning, counted
from kgagent.graph.store import Row
from kgagent.search.attempt import attempt
from kgagent.search.scope import SearchScope

EXAMINED = 500
"""Records of each kind that are examined for the model of their embedding."""

LIFETIME = 600.0
LIFETIME_OF_WARNING = 30.0
"""Seconds for which the result is cached; a warning, which a migration ends, for less."""

MAX_USERS = 1_000
"""Number of users whose results are cached."""

MAX_MODEL_NAME = 80


@dataclass(frozen=True)
class _Examined:
    expires: float = 0.0
    warnings: tuple[str, ...] = ()


class OmittedRecords:
    """Warnings of the records that semantic search omits, cached for each user."""

    def __init__(self) -> None:
        self._known: dict[str, _Examined] = {}

    def warnings(self, scope: SearchScope) -> tuple[str, ...]:
        """The warnings of a user, as far as they were read."""
        return self._known.get(scope.user_id, _Examined()).warnings

    async def reading(self, scope: SearchScope, timeout: float) -> None:
        """Examine a user's records, unless the result is known; a failure leaves it unknown."""
        if self._known.get(scope.user_id, _Examined()).expires > time.monotonic():
            return
        examining = scope.read(scope.statement("count_omitted"), {"examined": EXAMINED})
        rows, failure = await attempt(examining, timeout, default=[])
        if failure is not None:
            return
        if len(self._known) >= MAX_USERS:
            self._known.clear()
        [row] = rows
        is_complete = not row["omitted_nodes"] and not row["omitted_relationships"]
        lifetime = LIFETIME if is_complete else LIFETIME_OF_WARNING
        warnings = () if is_complete else (_omitted(row, scope.model),)
        self._known[scope.user_id] = _Examined(time.monotonic() + lifetime, warnings)


def _omitted(row: Row, model: str) -> str:
    omitted = (
        f"{counted(row['omitted_nodes'], 'node')} and "
        f"{counted(row['omitted_relationships'], 'relationship')}"
    )
    other = repr(beginning(row["other_model"] or "another model", MAX_MODEL_NAME))
    return (
        f"Semantic search omits {'at least ' if row['is_partial'] else ''}{omitted}: their "
        f"embeddings were made by "
        f"{other}, but {model!r} is connected. Run `kgagent migrate` to embed them again, or "
        f"connect that model"
    )
