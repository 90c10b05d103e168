"""What happens when the disk of the local Neo4j is full: its answers, its data, and how it comes
back.

python -m tests.adversarial.disk_full [--megabytes 96]

It mounts a small file system in memory (tmpfs) for the home of a local server, which needs Linux
and the right to mount, writes through the tools, fills the file system, writes on, removes what
filled it, and compares the stored records with those that were acknowledged. It prints a summary as
JSON, and exits with 1 if a promise was broken, and with 2 if it cannot run here.
"""

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.local import LocalNeo4j
from kgagent.tools import Toolset
from tests.support.shared_server import QuickLocalNeo4j
from tests.support.stored import (
    assert_embeddings_are_current,
    nodes_of,
    note_contents,
    the_relationship,
)

DIMENSIONS = 384
USER = "disk-full"
MEGABYTE = 1_048_576
REFUSED = 6
MAX_CALLS = 400
"""Calls on a full disk: enough to use up what Neo4j has reserved."""

FREE_BYTES = 2 * MEGABYTE
"""Left free by the file that fills the disk, for the server to use up in the middle of a write."""


@dataclass
class Report:
    """What was seen.

    Attributes:
        acknowledged: writes that succeeded before, while and after the disk was full.
        refused: writes that failed.
        errors: their texts, and how often.
        reads_while_full: whether a search succeeded on the full disk.
        writes_again_without_restart: whether writes succeed once there is space, without a restart.
        violations: promises that were broken.
    """

    acknowledged: int = 0
    refused: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    reads_while_full: bool | None = None
    read_error: str = ""
    writes_again_without_restart: bool | None = None
    seconds_to_first_refusal: float | None = None
    longest_answer: float = 0.0
    violations: list[str] = field(default_factory=list)


class Writer:
    """Writes nodes with notes, and notes on one relationship, and remembers which calls
    succeeded.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._count = 0
        self.nodes: dict[str, bool] = {}
        self.notes: dict[str, bool] = {}
        self.ends: dict[str, str] = {}

    async def begin(self, tools: Toolset) -> None:
        """Create the relationship."""
        keys = [
            (await tools.create_node(label="Person", name=name))["entity_key"]
            for name in ("Ada", "Bo")
        ]
        self.ends = {"from_entity_key": keys[0], "to_entity_key": keys[1]}
        await tools.create_relationship(
            **self.ends, relationship_type="friend", description="They row"
        )

    async def write(self, tools: Toolset) -> bool:
        """Make one call; whether it succeeded."""
        self._count += 1
        text = f"note {self._count} " + "of a long day at sea " * 40
        began = time.monotonic()
        if self._count % 2:
            name = f"Person {self._count}"
            answer = await tools.create_node(
                label="Person", name=name, description=text, notes=[text]
            )
            self.nodes[name] = bool(answer["success"])
        else:
            answer = await tools.add_note_to_relationship(**self.ends, content=text.strip())
            self.notes[text.strip()] = bool(answer["success"])
        self._report.longest_answer = max(
            self._report.longest_answer, round(time.monotonic() - began, 1)
        )
        if answer["success"]:
            self._report.acknowledged += 1
        else:
            self._report.refused += 1
            self._report.errors[str(answer["error"])[:600]] += 1
        return bool(answer["success"])

    async def compare(self, graph: KnowledgeGraph) -> None:
        """What was acknowledged is there, once; what was refused is there as a whole or not at
        all.
        """
        wrong = self._report.violations
        stored = await nodes_of(graph, USER)
        names = Counter(str(node["name"]) for node in stored)
        wrong += [f"{name} is stored {names[name]} times" for name in names if names[name] > 1]
        wrong += [
            f"{name} is lost"
            for name, acknowledged in self.nodes.items()
            if acknowledged and not names[name]
        ]
        for node in stored:
            if node["name"] in self.nodes and len(note_contents(node)) != 1:
                wrong.append(f"{node['name']} is half written")
        relationship = await the_relationship(graph, USER)
        notes = Counter(note_contents(relationship))
        wrong += [
            f"{note[:20]} is lost"
            for note, acknowledged in self.notes.items()
            if acknowledged and not notes[note]
        ]
        wrong += [
            f"{note[:20]} is stored {count} times" for note, count in notes.items() if count > 1
        ]
        try:
            await assert_embeddings_are_current(graph, USER, graph.embedder, datetime.now(UTC))
        except (AssertionError, KeyError) as error:
            wrong.append(f"an embedding is not current: {str(error)[:300]}")
        diagnosis = await graph.diagnose(user_id=USER)
        wrong += [
            f"doctor: {finding.message}"
            for finding in diagnosis.findings
            if finding.severity != "info"
        ]


@contextmanager
def small_disk(megabytes: int) -> Iterator[Path]:
    """A file system of so many megabytes.

    Raises:
        OSError: there is none to be had here.
    """
    with tempfile.TemporaryDirectory(prefix="kgagent-disk-full-") as name:
        command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "tmpfs", name]
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
        if mounted.returncode:
            raise OSError(mounted.stderr.strip() or f"mount ended with {mounted.returncode}")
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", name], check=True)


def fill(folder: Path) -> Path:
    """Fill the disk but for a rest, which the next writes use up."""
    file = folder / "filler"
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
    with file.open("wb") as stream, contextlib.suppress(OSError):
        for _ in range(max(0, free - FREE_BYTES) // MEGABYTE):
            stream.write(b"\0" * MEGABYTE)
            stream.flush()
    return file


def _settings(local: LocalNeo4j) -> Settings:
    info = local.up()
    return Settings(
        _env_file=None,
        neo4j_uri=info.uri,
        neo4j_username=info.username,
        neo4j_password=SecretStr(info.password),
        embedder="hashing",
    )


def _open(settings: Settings) -> Any:
    return KnowledgeGraph.connect(settings=settings, embedder=HashingEmbedder(DIMENSIONS))


async def run(local: LocalNeo4j, folder: Path) -> Report:
    """Write, fill the disk, write on, make room, restart the server if needed, and compare."""
    report = Report()
    writer = Writer(report)
    async with _open(_settings(local)) as graph:
        tools = graph.tools(user_id=USER)
        await writer.begin(tools)
        await _write_all(writer, tools, 20, report, "while there was room")
        filler = fill(folder)
        await _write_on_a_full_disk(writer, tools, report)
        filler.unlink()
        report.writes_again_without_restart = all([await writer.write(tools) for _ in range(4)])
    if not report.writes_again_without_restart:
        local.down()
    async with _open(_settings(local)) as graph:
        await _write_all(
            writer, graph.tools(user_id=USER), 10, report, "after there was room again"
        )
        await writer.compare(graph)
    return report


async def _write_all(writer: Writer, tools: Toolset, count: int, report: Report, when: str) -> None:
    for _ in range(count):
        if not await writer.write(tools):
            report.violations.append(f"a write failed {when}")


async def _write_on_a_full_disk(writer: Writer, tools: Toolset, report: Report) -> None:
    """Write until several calls have failed, and search."""
    began = time.monotonic()
    for _ in range(MAX_CALLS):
        if await writer.write(tools):
            continue
        if report.seconds_to_first_refusal is None:
            report.seconds_to_first_refusal = round(time.monotonic() - began, 1)
        if report.refused >= REFUSED:
            break
    else:
        report.violations.append("the disk was never full")
    found = await tools.hybrid_search(query="a long day at sea")
    report.reads_while_full = bool(found["success"])
    report.read_error = str(found.get("error", ""))[:600]
    said = (*report.errors, *filter(None, [report.read_error]))
    report.violations += (
        f"an error does not say what to do: {text}" for text in said if "make room" not in text
    )


def main() -> int:
    """Run it, and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=96, help="size of the disk")
    given = parser.parse_args()
    try:
        with small_disk(given.megabytes) as folder:
            local = QuickLocalNeo4j(folder / "home")
            try:
                report = asyncio.run(run(local, folder))
            finally:
                local.down()
    except OSError as error:
        print(f"Cannot run here: {error}", file=sys.stderr)
        return 2
    print(json.dumps({**asdict(report), "errors": dict(report.errors)}, indent=2))
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
