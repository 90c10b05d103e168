"""Starting Ray or connecting to it, without its own output."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from kgagent.errors import ConfigurationError
from kgagent.extras import require_extra

_CONNECTION_TIMEOUT = 5.0
_VARIABLES = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}
"""Variables of Ray's processes, unless they are set: no report to Ray's makers, and no log of its
internals here.
"""


def import_ray() -> ModuleType:
    """Import what takes long.

    Raises:
        ConfigurationError: a package is missing.
    """
    with require_extra("ray"):
        import pyarrow  # noqa: F401
        import ray.data
    return ray


def start_ray(address: str | None, workers: int) -> bool:
    """Start Ray or connect to it, unless the program has done so; return whether this call did.

    Args:
        address: an existing cluster, "auto" for that of this machine, or None to start Ray here.
        workers: CPUs of a Ray that is started.

    Raises:
        ConfigurationError: it is not possible.
    """
    import ray

    if ray.is_initialized():
        return False
    if address is not None:
        check_address(address)
    local: dict[str, Any] = {"num_cpus": workers, "include_dashboard": False}
    try:
        with _quiet_settings():
            ray.init(
                address or "local",
                log_to_driver=False,
                logging_level=logging.ERROR,
                **({} if address else local),
            )
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        where = f"the cluster {address}" if address else "this machine"
        advice = ". If the cluster requires a token, set RAY_AUTH_MODE=token" if address else ""
        raise ConfigurationError(f"Ray cannot be used on {where}: {error}{advice}") from error
    return True


def check_address(address: str) -> None:
    """Refuse a cluster that does not answer; Ray would end this process.

    Raises:
        ConfigurationError: there is no server at the address.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        if address == "auto":
            return
        raise ConfigurationError(
            f'The address of a Ray cluster is "auto" or host:port, got {address!r}'
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECTION_TIMEOUT).close()
    except (OSError, OverflowError) as error:
        raise ConfigurationError(
            f"No Ray cluster answers at {address}: {error}. `ray status` on its head node shows "
            f"the address"
        ) from error


@contextmanager
def quiet_data() -> Iterator[None]:
    """Let Ray Data print neither its plans nor progress bars; the command line has its own."""
    import ray.data

    log, context = logging.getLogger("ray.data"), ray.data.DataContext.get_current()
    before = log.level, context.enable_progress_bars
    log.setLevel(logging.ERROR)
    context.enable_progress_bars = False
    try:
        yield
    finally:
        log.setLevel(before[0])
        context.enable_progress_bars = before[1]


@contextmanager
def _quiet_settings() -> Iterator[None]:
    """Set the variables that are not set, while Ray starts its processes."""
    added = {name: value for name, value in _VARIABLES.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
