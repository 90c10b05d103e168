"""Distribution of the tests among the workers of a run."""

from collections.abc import Callable

import pytest
from xdist.remote import Producer
from xdist.scheduler.worksteal import MIN_PENDING, WorkStealingScheduling


class LastTestsScheduling(WorkStealingScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Work stealing that keeps the last tests of the collection until the workers have finished all
    others.

    A worker begins with a part of the collection and steals from the ends of the others': without
    this, the last tests run as soon as one worker has finished its part.
    """

    def __init__(
        self, config: pytest.Config, log: Producer | None, count_last: Callable[[], int]
    ) -> None:
        """Create the scheduler of a run.

        Args:
            config: the configuration of the process that distributes the tests.
            log: where pytest-xdist logs.
            count_last: gives the number of tests to keep, once the workers have collected.
        """
        super().__init__(config, log)
        self._count_last = count_last
        self._kept: list[int] | None = None

    @property
    def tests_finished(self) -> bool:
        """Whether the workers have got all tests and nearly finished them."""
        return not self._kept and super().tests_finished

    @property
    def has_pending(self) -> bool:
        """Whether tests are left."""
        return bool(self._kept) or super().has_pending

    def check_schedule(self) -> None:
        """Give workers without tests more of them."""
        if self._kept is None:
            start = max(0, len(self.pending) - self._count_last())
            self._kept = self.pending[start:]
            del self.pending[start:]
        if (
            not self.pending
            and self.steal_requested_from_node is None
            and self._is_nothing_to_steal()
        ):
            self.pending.extend(self._kept)
            self._kept.clear()
        super().check_schedule()

    def _is_nothing_to_steal(self) -> bool:
        return all(len(pending) <= MIN_PENDING for pending in self.node2pending.values())
