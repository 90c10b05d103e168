"""Memory sizes of the local Neo4j."""

from dataclasses import dataclass
from pathlib import Path

from kgagent.extras import require_extra

_MIB = 1 << 20
_HEAP_SHARE, _MIN_HEAP, _MAX_HEAP = 0.25, 512, 4096
_PAGES_SHARE, _MIN_PAGES, _MAX_PAGES = 0.15, 128, 4096
_LIMITS = ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True)
class Memory:
    """Sizes in MiB. The remaining memory is for the vector indexes, which the operating system caches."""

    heap: int
    page_cache: int


def choose_memory(machine: int) -> Memory:
    """Choose the sizes for a machine.

    Args:
        machine: memory of the machine in bytes.
    """
    whole = machine // _MIB
    return Memory(
        heap=min(max(int(whole * _HEAP_SHARE), _MIN_HEAP), _MAX_HEAP),
        page_cache=min(max(int(whole * _PAGES_SHARE), _MIN_PAGES), _MAX_PAGES),
    )


def machine_memory(root: Path = Path("/")) -> int:
    """Memory in bytes that this process may use: the machine's or, if lower, the container's limit."""
    with require_extra("local"):
        import psutil
    return min([psutil.virtual_memory().total, *_container_limits(root)])


def _container_limits(root: Path) -> list[int]:
    limits = []
    for name in _LIMITS:
        try:
            limits.append(int((root / name).read_text(encoding="ascii")))
        except (OSError, ValueError):
            continue
    return [limit for limit in limits if limit > 0]
