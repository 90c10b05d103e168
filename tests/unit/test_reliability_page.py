"""The tests and programs that docs/reliability.md names exist."""

import re
from pathlib import Path


def test_every_path_of_the_page_exists(repository_root: Path) -> None:
    page = (repository_root / "docs" / "reliability.md").read_text("utf-8")
    named = set(re.findall(r"\b(?:tests|scripts|benchmarks)/[\w/]*(?:\.py)?", page))
    assert len(named) > 20
    assert [path for path in sorted(named) if not (repository_root / path).exists()] == []


def test_every_module_of_the_page_exists(repository_root: Path) -> None:
    page = (repository_root / "docs" / "reliability.md").read_text("utf-8")
    modules = re.findall(r"python -m (tests[\w.]+)", page)
    assert modules
    assert all((repository_root / f"{name.replace('.', '/')}.py").exists() for name in modules)
