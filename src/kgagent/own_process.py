"""What belongs to the process that opened it: event loops, threads and connections do not survive a fork."""

from kgagent.errors import ConfigurationError


def opened_before_fork() -> ConfigurationError:
    """The error of work that would wait forever, or break the connections of two processes."""
    return ConfigurationError(
        "The graph was opened before this process was forked: open a graph in each process after it has started"
    )
