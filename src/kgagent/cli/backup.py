"""kgagent backup and restore-backup: the data of the local Neo4j as one file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgagent.cli.options import Json

if TYPE_CHECKING:
    from kgagent.local import BackupManifest, LocalNeo4j


def backup(
    file: Annotated[Path, typer.Argument(help="File to write; an existing one is replaced.", dir_okay=False)],
    *,
    stop: Annotated[bool, typer.Option("--stop", help="Stop the server even if programs are connected to it.")] = False,
    json: Json = False,
) -> None:
    """Back up all data of the local Neo4j to a FILE. A running server is stopped for the backup."""
    from kgagent.cli.progress import RichProgress

    _print("Backed up", file, _local_server("backup").backup(file, stop=stop, progress=RichProgress()), json=json)


def restore_backup(
    file: Annotated[Path, typer.Argument(help="File written by backup.", exists=True, dir_okay=False)],
    *,
    json: Json = False,
) -> None:
    """Restore a backup FILE into the local Neo4j, which must not contain data yet."""
    from kgagent.cli.progress import RichProgress

    _print("Restored", file, _local_server("restore-backup").restore_backup(file, RichProgress()), json=json)


def _local_server(command: str) -> "LocalNeo4j":
    from kgagent.errors import ConfigurationError
    from kgagent.local import LocalNeo4j
    from kgagent.settings import load_settings

    settings = load_settings()
    if settings.neo4j_uri:
        raise ConfigurationError(
            f"kgagent {command} is for the local Neo4j, but NEO4J_URI is set. Unset it, or use "
            "kgagent export --all-users or the server's own backup"
        )
    return LocalNeo4j.from_settings(settings)


def _print(done: str, file: Path, manifest: "BackupManifest", *, json: bool) -> None:
    from rich.text import Text

    from kgagent.cli.output import print_json, print_result

    if json:
        print_json(
            {
                "file": str(file),
                "neo4j_version": manifest.neo4j_version,
                "created_at": manifest.created_at.isoformat(),
                "files": len(manifest.files),
                "bytes": manifest.size,
            }
        )
    else:
        size = manifest.size / 1e6
        print_result(Text(f"{done} {size:,.1f} MB of Neo4j {manifest.neo4j_version}: {file}"))
