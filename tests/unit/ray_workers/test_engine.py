"""The engine's arguments, and errors before Ray starts."""

import subprocess
import sys

import pytest

from kgagent import InputError, RayEngine

OPEN = """
import asyncio, sys
sys.modules["ray"] = None
from kgagent.ray_workers import RayEngine
async def main():
    async with RayEngine().open(None, None):
        pass
asyncio.run(main())
"""


@pytest.mark.parametrize("sizes", [{"workers": 0}, {"block_size": 0}])
def test_sizes_begin_at_1(sizes: dict[str, int]) -> None:
    with pytest.raises(InputError, match="workers and block_size must be at least 1"):
        RayEngine(**sizes)  # type: ignore[arg-type]


def test_a_missing_package_is_named_with_its_extra() -> None:
    program = [sys.executable, "-c", OPEN]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=60)
    advice = 'The engine ray needs the package ray: pip install "kgagent[ray]"'
    assert done.stderr.splitlines()[-1] == f"kgagent.errors.ConfigurationError: {advice}"
