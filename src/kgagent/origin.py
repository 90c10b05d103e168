"""What a graph belongs to: its connections and tasks work only in one process and on one event
loop.
"""

import asyncio
import os
from dataclasses import dataclass, field

from kgagent.errors import ConfigurationError


@dataclass(frozen=True)
class Origin:
    """The event loop and the process that a graph was opened in."""

    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    pid: int = field(default_factory=os.getpid)

    def check(self) -> None:
        """Refuse work that would wait forever, or break the connections of two processes.

        Raises:
            ConfigurationError: the caller is on another event loop, or in a process that was forked
                from this one.
        """
        check_process(self.pid)
        if asyncio.get_running_loop() is not self.loop:
            raise ConfigurationError(
                "The graph was opened on another event loop: open a graph on each event loop, such "
                "as once in each "
                "asyncio.run, or open one SyncKnowledgeGraph, which works in every thread"
            )


def check_process(pid: int) -> None:
    """Refuse to continue in a process that was forked from another one.

    Raises:
        ConfigurationError: this is not the process with the id.
    """
    if os.getpid() != pid:
        raise ConfigurationError(
            "The graph was opened before this process was forked: open a graph in each process "
            "after it has started"
        )
