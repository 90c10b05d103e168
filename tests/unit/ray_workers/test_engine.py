"""The engine's arguments, and errors before Ray starts."""

import subprocess
import sys

import pytest

from kgagent import ConfigurationError, InputError, RayEngine
from kgagent.ray_workers.session import check_address

OPEN = """
import asyncio, sys
sys.modules["{missing}"] = None
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


@pytest.mark.parametrize(("total", "size"), [(0, 1), (81, 11), (1_000_000, 500)])
def test_each_worker_gets_several_blocks_and_none_is_larger_than_allowed(
    total: int, size: int
) -> None:
    assert RayEngine(workers=2, block_size=500).size_for(total) == size


@pytest.mark.parametrize("missing", ["ray"])
def test_a_missing_package_is_named_with_its_extra(missing: str) -> None:
    program = [sys.executable, "-c", OPEN.format(missing=missing)]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=60)
    advice = f'The engine ray needs the package {missing}: pip install "kgagent[ray]"'
    assert done.stderr.splitlines()[-1] == f"kgagent.errors.ConfigurationError: {advice}"


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("127.0.0.1:1", r"No Ray cluster answers at 127\.0\.0\.1:1: .*`ray status`"),
        ("nowhere", r'is "auto" or host:port, got \'nowhere\''),
    ],
)
def test_a_cluster_that_does_not_answer_is_an_error(address: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        check_address(address)
