"""How much code one call runs: a bound on the modules that a reader must open to follow it."""

import sys
from collections.abc import Iterable
from pathlib import Path
from types import FrameType

from kgagent.tools import Toolset
from tests.support.people import two_friends

SOURCE = str(Path(sys.modules["kgagent"].__path__[0]))
MAX_MODULES = 14
MAX_LINES = 2_200


def count_lines(files: Iterable[str]) -> int:
    return sum(len(Path(file).read_text("utf-8").splitlines()) for file in files)


async def test_one_update_of_a_relationship_runs_few_modules(tools: Toolset) -> None:
    ends = await two_friends(tools, description="They row", attitude=4)
    update = tools.update_relationship
    await update(**ends, description="They row often")
    files: set[str] = set()

    def record(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            files.add(frame.f_code.co_filename)

    sys.setprofile(record)
    try:
        await update(**ends, description="They row every day")
    finally:
        sys.setprofile(None)
    assert "kgagent/graph/compare_and_set.py" in "\n".join(files)
    assert len(files) <= MAX_MODULES, sorted(files)
    assert count_lines(files) <= MAX_LINES
