from pathlib import Path

import pytest

from kgagent.local.memory import Memory, choose_memory, machine_memory

GIB = 1 << 30


@pytest.mark.parametrize(
    ("machine", "memory"),
    [
        (1 * GIB, Memory(heap=512, page_cache=153)),
        (8 * GIB, Memory(heap=2048, page_cache=1228)),
        (256 * GIB, Memory(heap=4096, page_cache=4096)),
    ],
)
def test_memory_fits_the_machine(machine: int, memory: Memory) -> None:
    assert choose_memory(machine) == memory


def test_limit_of_a_container_applies_if_it_is_less_than_the_machine(tmp_path: Path) -> None:
    limit = tmp_path / "sys/fs/cgroup/memory.max"
    limit.parent.mkdir(parents=True)
    limit.write_text("1000000\n")

    assert machine_memory(tmp_path) == 1_000_000


@pytest.mark.parametrize("text", ["max\n", "", "0"])
def test_container_without_a_limit_has_the_whole_machine(tmp_path: Path, text: str) -> None:
    limit = tmp_path / "sys/fs/cgroup/memory.max"
    limit.parent.mkdir(parents=True)
    limit.write_text(text)

    assert machine_memory(tmp_path) == machine_memory(tmp_path / "nothing")
