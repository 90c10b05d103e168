"""The process of each toolkit, with its own environment where its requirements conflict with
kgagent's.
"""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
OWN_ENVIRONMENT = {"LlamaIndex": BENCHMARKS / "side" / "llama-index.txt"}
"""Toolkits that pin another major version of the Neo4j driver, with their locked requirements."""


class Worker:
    """The process of one toolkit."""

    def __init__(self, name: str, vectors: Path) -> None:
        """Start it.

        Args:
            name: of the toolkit.
            vectors: file of embeddings.
        """
        self.name = name
        lock = OWN_ENVIRONMENT.get(name)
        python = Path(sys.executable) if lock is None else own_python(name, lock)
        self._process = subprocess.Popen(  # noqa: S603 - no untrusted arguments
            [python, "-m", "side.worker", name, vectors],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(BENCHMARKS)},
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("The process has no pipes")
        self._requests, self._answers = self._process.stdin, self._process.stdout

    def call(self, call: str, **values: object) -> Mapping[str, Any]:
        """Send a request and wait for the answer.

        Raises:
            RuntimeError: the process ended; it has printed why.
        """
        print(json.dumps({"call": call, **values}), file=self._requests, flush=True)
        if not (line := self._answers.readline()):
            raise RuntimeError(f"The process of {self.name} ended in {call}")
        answer: Mapping[str, Any] = json.loads(line)
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process."""
        self._requests.close()
        self._process.wait(30)


def own_python(name: str, lock: Path) -> Path:
    """The Python of a toolkit's own environment, which is created if it does not have the locked
    versions.
    """
    home = ROOT / f".venv-{name.lower()}"
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    installed = home / "installed.txt"
    if not installed.exists() or installed.read_text("utf-8") != lock.read_text("utf-8"):
        print(f"Creating {home.name} with the versions of {lock.name}", flush=True)
        venv.create(home, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", lock], check=True)  # noqa: S603 - as above
        installed.write_text(lock.read_text("utf-8"), "utf-8")
    return python
