"""How the program was called, for commands to go on with."""

import shlex
import shutil
from pathlib import Path

NAME = "kgagent"


def called(program: str) -> str:
    """The program as a shell takes it: by its name where that finds it, else by the path that it was called by.

    Args:
        program: what it was called by, `sys.argv[0]`.
    """
    path = Path(program)
    if path.stem != NAME or not path.is_file():
        return NAME
    found = shutil.which(NAME)
    return NAME if found is not None and Path(found).resolve() == path.resolve() else shlex.quote(program)
