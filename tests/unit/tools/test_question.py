"""What a question says about undoing."""

from datetime import timedelta

import pytest

from kgagent.tools.questions import undo


@pytest.mark.parametrize(
    ("window", "text"),
    [
        (timedelta(0), "It cannot be undone"),
        (timedelta(days=1), "It can be undone for 1 day"),
        (timedelta(days=36_500), "It can be undone for 36,500 days"),
    ],
)
def test_it_says_how_long_a_deletion_can_be_undone(window: timedelta, text: str) -> None:
    assert undo(window) == text
