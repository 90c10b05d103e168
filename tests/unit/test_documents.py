"""What the documents say is what the code does."""

import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main
import yaml
from typer.core import TyperGroup

from kgagent.cli.app import app
from kgagent.ontology import default_ontology

ASSETS = "adapters/view/assets"
FIELDS = ("attitude", "proximity")
FOLDERS = {"docs", "nav"}
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "relationships.md",
    "benchmarks/README.md",
    "docs/*.md",
)


@pytest.fixture
def pages(repository_root: Path) -> dict[Path, str]:
    """The text of each page of the documentation."""
    return {
        path: path.read_text("utf-8") for pattern in PAGES for path in repository_root.glob(pattern)
    }


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
def test_relationships_md_lists_the_words_of_each_kind(
    repository_root: Path, neo4j_type: str
) -> None:
    text = (repository_root / "relationships.md").read_text("utf-8")
    kind = default_ontology().relationships[neo4j_type]
    words = " | ".join(", ".join(kind.words(field)) for field in FIELDS)
    assert f"| `{neo4j_type}` | {words} |" in text
    assert f"| `{neo4j_type}` | {kind.pairs[0][0]} | {kind.pairs[0][1]} |" in text


@pytest.mark.parametrize(
    "script", ["tools_page.py", "configuration_page.py", "command_line_page.py", "python_page.py"]
)
def test_generated_parts_of_pages_are_up_to_date(
    repository_root: Path,
    script: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
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


def test_links_lead_to_files_and_headings_that_exist(pages: dict[Path, str]) -> None:
    headings = {
        path: {*map(anchor, re.findall(r"^#+ (.+)$", text, re.MULTILINE))}
        for path, text in pages.items()
    }
    broken = []
    for path, text in pages.items():
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        for target, _, heading in re.findall(r"\]\((?!https?:)([^)#\s]*)(#([^)\s]+))?\)", prose):
            file = (path.parent / target).resolve() if target else path
            if not file.exists() or (heading and heading not in headings[file]):
                broken.append(f"{path.name}: {target}#{heading}")
    assert broken == []


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-")


def test_commands_on_the_pages_have_the_options_that_they_name(pages: dict[Path, str]) -> None:
    program = typer.main.get_command(app)
    assert isinstance(program, TyperGroup)
    current = [text for path, text in pages.items() if path.name != "CHANGELOG.md"]
    calls = [arguments for text in current for arguments in commands(text)]
    assert len(calls) > 40
    unknown = []
    for name, *arguments in calls:
        options = {
            option
            for each in program.commands[name].params
            for option in (*each.opts, *each.secondary_opts)
        }
        unknown += [
            f"{name} {word}" for word in arguments if word.startswith("--") and word not in options
        ]
    assert unknown == []


def commands(text: str) -> Iterator[list[str]]:
    """Name and arguments of each call of `kgagent` in blocks of shell commands and in the text."""
    blocks = "\n".join(shell_blocks(text)).replace("\\\n", " ").splitlines()
    lines = [line for line in blocks if line.startswith("kgagent ")]
    for call in [*lines, *re.findall(r"`(kgagent [a-z][^`…]*)`", text)]:
        yield shlex.split(call, comments=True)[1:]


def test_the_guide_for_contributors_names_files_and_names_that_exist(repository_root: Path) -> None:
    guide = re.sub(
        r"```.*?```", "", (repository_root / "CONTRIBUTING.md").read_text("utf-8"), flags=re.DOTALL
    )
    terms = set(re.findall(r"`(\w[\w./]*)`", guide))
    files = {
        term for term in terms if re.search(r"/|\.(py|cypher|md|js|css|json|yml|toml|txt)$", term)
    }
    bases = (
        repository_root,
        *(repository_root / "src" / "kgagent" / folder for folder in ("", ASSETS)),
        *(repository_root / "src" / "kgagent" / "cypher").iterdir(),
    )
    assert [
        file for file in sorted(files) if not any((base / file).exists() for base in bases)
    ] == []
    sources = [
        path for folder in ("src", "tests") for path in (repository_root / folder).rglob("*.py")
    ]
    code = "\n".join(
        path.read_text("utf-8") for path in (*sources, repository_root / "pyproject.toml")
    )
    words = set(re.findall(r"\w+", code)) | FOLDERS
    assert [term for term in sorted(terms - files) if not words.issuperset(term.split("."))] == []


def test_the_site_loads_no_font_from_elsewhere(repository_root: Path) -> None:
    site = yaml.safe_load((repository_root / "mkdocs.yml").read_text("utf-8"))
    assert site["theme"]["font"] is False
