"""How to start this program again: in a shell, and from another program."""

import shlex
import shutil
import sys
from pathlib import Path

NAME = "kgagent"


def program_name(argument: str) -> str:
    """The program as a shell finds it: its name if it is on the PATH, or else the quoted path.

    Args:
        argument: how it was started, `sys.argv[0]`.
    """
    path = Path(argument)
    if path.stem != NAME or not path.is_file():
        return NAME
    on_path = shutil.which(NAME)
    return NAME if on_path is not None and Path(on_path).resolve() == path.resolve() else shlex.quote(argument)


def program_path() -> str:
    """Absolute path of the installed `kgagent`; desktop programs do not know the PATH of a shell."""
    sibling = Path(sys.executable).with_name("kgagent.exe" if sys.platform == "win32" else NAME)
    return str(sibling) if sibling.exists() else shutil.which(NAME) or NAME
