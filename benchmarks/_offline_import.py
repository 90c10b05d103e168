"""Writes a made graph as CSV and imports it into the data of a stopped local Neo4j, without its
server.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import orjson
from _made_graph import Content, Owner

from kgagent.local.artifacts import fetch, is_valid, maven_context
from kgagent.local.config import common_arguments, render_argument_file
from kgagent.local.java import find_java
from kgagent.local.lock import LockedFile
from kgagent.local.process import server_environment
from kgagent.local.releases import find_release

VERSION = "2026.08.1"
TOOL = LockedFile(
    coordinate=f"org.neo4j:neo4j-import-tool:{VERSION}",
    sha256="2ccb1c84b613b18814bbde5185267c60a6bb2b3d0b3ce632d3941d5d0fb29713",
    size=197_514,
)
"""The only jar that the import needs beside the server's; the lock of the local Neo4j leaves it
out.
"""

NODE_HEADER = "entity_key:ID,user_id,name,description\n"
RELATIONSHIP_HEADER = (
    ":START_ID,:END_ID,relationship_key,user_id,relationship_type,description,attitude:long,proximity:long,notes,"
    "embedding_model,embedding_hash,version:long,created_at:datetime,updated_at:datetime,"
    "relationship_embedding:float[]\n"
)
NOTES = '"[{""content"": ""They met at a conference in 2011."", ""added_by"": ""me""}]"'


def write_csv(content: Content, model: str, folder: Path) -> None:
    """Write `nodes.csv` and `relationships.csv`, the same graph that `_made_graph.load` writes.

    Args:
        content: users and vectors.
        model: name of the embedding model.
        folder: existing folder for the files.
    """
    with (folder / "nodes.csv").open("w", encoding="utf-8") as stream:
        stream.write(NODE_HEADER)
        stream.writelines(
            f"{owner.key(node)},{owner.user_id},Thing {node},The thing number {node}.\n"
            for owner in content.everyone
            for node in range(owner.nodes)
        )
    with (folder / "relationships.csv").open("wb") as file:
        file.write(RELATIONSHIP_HEADER.encode())
        for owner in content.everyone:
            file.writelines(_lines(content, owner, model))


def _lines(content: Content, owner: Owner, model: str) -> Iterator[bytes]:
    now = datetime.now(UTC).isoformat()
    for position in range(owner.count):
        start, end = owner.ends(position)
        fields = (
            f"{start},{end},connected_to:{start}:{end},{owner.user_id},kind {position % 20},"
            f'"{start} and {end} have met {position} times, and neither of them forgets it.",'
            f"{position % 5 + 1},{position % 3 + 1},{NOTES},{model},made "
            f"{owner.first + position},1,{now},{now},"
        )
        vector = np.ascontiguousarray(content.vectors[owner.first + position])
        numbers = orjson.dumps(vector, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1].replace(b",", b";")
        yield fields.encode() + numbers + b"\n"


def import_csv(folder: Path, home: Path, *, cache: Path | None) -> None:
    """Replace the data of a stopped local Neo4j with the files that `write_csv` wrote.

    Args:
        folder: has the files.
        home: home folder of the server, which was started once.
        cache: folder of downloaded files; None for the user's.

    Raises:
        SystemExit: the import failed; the text is the end of its output.
    """
    java = find_java(find_release(VERSION).oldest_java)
    jars = fetch(f"neo4j-{VERSION}", cache=cache)
    with tempfile.TemporaryDirectory(prefix="kgagent-import-") as staging:
        tool = maven_context(Path(staging))
        group, artifact, version, classifier = TOOL.parts
        jar = tool.project(group, artifact).at_version(version).artifact(classifier).resolve()
        if not is_valid(jar, TOOL):
            raise SystemExit(f"{TOOL.coordinate} has the wrong checksum")
        arguments = Path(staging) / "java.args"
        arguments.write_text(
            render_argument_file(
                ["-Xmx2g", *common_arguments(java, [jar, *jars]), "org.neo4j.cli.AdminTool"]
            ),
            "utf-8",
        )
        done = subprocess.run(  # noqa: S603 - no untrusted arguments
            [
                java.launcher,
                f"@{arguments}",
                *(
                    "database",
                    "import",
                    "full",
                    "neo4j",
                    "--overwrite-destination",
                    "--max-off-heap-memory=2G",
                ),
                f"--nodes=Entity={folder / 'nodes.csv'}",
                f"--relationships=connected_to={folder / 'relationships.csv'}",
            ],
            env=server_environment() | {"NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")},
            cwd=staging,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise SystemExit(f"The import failed: {(done.stdout + done.stderr)[-2_000:]}")


def children_seconds() -> float:
    """CPU seconds of the ended child processes of this one."""
    times = os.times()
    return times.children_user + times.children_system
