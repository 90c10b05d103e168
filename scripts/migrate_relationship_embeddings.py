"""Migrate an old graph: `kgagent migrate` under another name, with the same options.

python scripts/migrate_relationship_embeddings.py --dry-run
python scripts/migrate_relationship_embeddings.py --user ada
"""

import logging

import typer

from kgagent.cli.app import report_errors
from kgagent.cli.maintenance import migrate

script = typer.Typer(pretty_exceptions_enable=False, add_completion=False, rich_markup_mode="rich")
script.command()(report_errors(migrate))

if __name__ == "__main__":
    # The driver logs every transaction that it retries.
    logging.getLogger("neo4j").setLevel(logging.ERROR)
    script()
