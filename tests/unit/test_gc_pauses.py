import gc

import pytest

from kgagent.gc_pauses import short_gc_pauses


def test_objects_of_the_start_are_not_collected_until_the_server_ends(
    request: pytest.FixtureRequest,
) -> None:
    request.addfinalizer(gc.freeze)  # as conftest.py does
    gc.unfreeze()
    assert gc.get_freeze_count() == 0
    with short_gc_pauses():
        frozen = gc.get_freeze_count()
        assert frozen > 10_000
        assert len(gc.get_objects()) < frozen
    assert gc.get_freeze_count() == 0
