"""The script that migrates an old graph."""

import subprocess
import sys
from pathlib import Path


def test_its_usage_is_the_call_that_works(repository_root: Path) -> None:
    script = repository_root / "scripts" / "migrate_relationship_embeddings.py"
    helped = subprocess.run([sys.executable, str(script), "--help"], capture_output=True, text=True, check=True)
    assert f"Usage: {script.name} [OPTIONS]" in helped.stdout
    assert "--rebuild-indexes" in helped.stdout
