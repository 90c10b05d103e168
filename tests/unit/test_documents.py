"""What the documents say is what the code does."""

import re
import runpy
import sys
from pathlib import Path

import pytest
import yaml

from kgagent.ontology import default_ontology

FIELDS = ("attitude", "proximity")


def shell_blocks(text: str) -> list[str]:
    return [block.strip() for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)]


def test_the_readme_begins_with_two_commands_of_one_line_each(repository_root: Path) -> None:
    first, second, *_ = shell_blocks((repository_root / "README.md").read_text("utf-8"))
    assert "\n" not in first
    assert first.endswith("kgagent demo")
    assert "\n" not in second
    assert second.endswith("pytest")


def test_continuous_integration_runs_the_readmes_second_command(repository_root: Path) -> None:
    _, second, *_ = shell_blocks((repository_root / "README.md").read_text("utf-8"))
    assert second in (repository_root / ".ci" / "run").read_text("utf-8").splitlines()


@pytest.mark.parametrize("neo4j_type", default_ontology().relationships)
def test_relationships_md_lists_the_words_of_each_kind(repository_root: Path, neo4j_type: str) -> None:
    text = (repository_root / "relationships.md").read_text("utf-8")
    kind = default_ontology().relationships[neo4j_type]
    words = " | ".join(", ".join(kind.words(field)) for field in FIELDS)
    assert f"| `{neo4j_type}` | {words} |" in text
    assert f"| `{neo4j_type}` | {kind.from_label} | {kind.to_label} |" in text


@pytest.mark.parametrize("script", ["tools_page.py", "configuration_page.py", "command_line_page.py", "python_page.py"])
def test_generated_parts_of_pages_are_up_to_date(
    repository_root: Path, script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process, which has imported most of what the scripts import."""
    path = repository_root / "scripts" / script
    monkeypatch.syspath_prepend(path.parent)
    monkeypatch.setattr(sys, "argv", [str(path), "--check"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    assert ended.value.code == 0, capsys.readouterr()


def test_the_site_leads_to_each_page(repository_root: Path) -> None:
    site = yaml.safe_load((repository_root / "mkdocs.yml").read_text("utf-8"))
    listed = re.findall(r"[\w-]+\.md", str(site["nav"]))
    assert sorted(listed) == sorted(page.name for page in (repository_root / "docs").glob("*.md"))


def test_the_site_loads_no_font_from_elsewhere(repository_root: Path) -> None:
    site = yaml.safe_load((repository_root / "mkdocs.yml").read_text("utf-8"))
    assert site["theme"]["font"] is False
