"""Migrate an old graph: `kgagent migrate` under another name, with the same options.

python scripts/migrate_relationship_embeddings.py --dry-run
python scripts/migrate_relationship_embeddings.py --user ada
"""

import sys

from kgagent.cli.app import app

if __name__ == "__main__":
    app(["migrate", *sys.argv[1:]])
