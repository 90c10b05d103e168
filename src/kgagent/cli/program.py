"""The program `kgagent`: `recall`, for which a host waits at each prompt, starts without what the
other commands import.
"""

import sys


def main() -> None:
    """Run the command line."""
    if sys.argv[1:2] == ["recall"]:
        from kgagent.cli.recall.client import plain_options, recall

        if (options := plain_options(sys.argv[2:])) is not None:
            recall(**options)
            return
    from kgagent.cli.app import main as run_command

    run_command()
