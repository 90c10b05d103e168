"""Prints the result of the demo, for 80 or more columns, with or without colors."""

from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from kgagent.cli.demo.comparison import LIMIT, USER, Comparison, DemoResult
from kgagent.formatting import counted
from kgagent.models import NodeSearchResult, RelationshipSearchResult

_FOUND = "bold green"


def result_view(result: DemoResult) -> Iterator[RenderableType]:
    """The questions with their results, and the totals."""
    yield _opening(result)
    for number, comparison in enumerate(result.comparisons, start=1):
        yield _question(number, comparison)
    yield _totals(result.totals)


def next_steps(*, is_local: bool, program: str) -> RenderableType:
    """Suggested next commands.

    Args:
        is_local: whether the local Neo4j is used and keeps running.
        program: how a shell starts the program.
    """
    steps = [
        (f'{program} explore "a love match" --user {USER}', "ask something else"),
        (f"{program} view --user {USER}", "search and view it on a page"),
        (f"{program} load FILE.jsonl", "load your own graph"),
        (f"{program} down", "stop the local Neo4j")
        if is_local
        else (f"{program} status", "see which server and embedder are used"),
    ]
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for command, purpose in steps:
        table.add_row(Text(command, style="cyan"), Text(purpose, style="dim"))
    head = Text("Next", style="bold")
    if is_local:
        head.append("  (the local Neo4j keeps running)", style="not bold dim")
    return Group(head, Padding(table, (0, 0, 1, 2)))


def _opening(result: DemoResult) -> RenderableType:
    report = result.report
    loaded = (
        f"loaded in {report.seconds:.1f} s, {counted(report.embedded, 'embedding')}"
        if report.changed
        else f"already loaded, checked in {report.seconds:.1f} s"
    )
    text = Text.assemble(
        "The novel Middlemarch, and a reader with mentors, friends and family: ",
        (f"{counted(report.nodes.total, 'node')} and {counted(report.relationships.total, 'relationship')}", "bold"),
        f" in Neo4j {result.version} ({loaded}). Embeddings: {result.embedder}.",
    )
    rule = Text.assemble(
        "Each question searches ",
        ("nodes", "bold"),
        " alone, then also ",
        ("relationships", "bold"),
        f"; the best {LIMIT} of each, with cosine similarity. ",
        ("✓", _FOUND),
        " marks the people that a reader would name.",
    )
    return Padding(Group(text, rule), (1, 0))


def _question(number: int, comparison: Comparison) -> RenderableType:
    body = Table.grid(expand=True, padding=(0, 2, 0, 0))
    body.add_column(ratio=3)
    body.add_column(ratio=5)
    expected = len(comparison.question.expected)
    body.add_row(
        _heading("node search alone", len(comparison.found_by_nodes), expected),
        _heading("with relationship search", len(comparison.found_with_relationships), expected),
    )
    body.add_row(
        Group(*(_node(result, comparison) for result in comparison.nodes)),
        Group(*(_relationship(result, comparison) for result in comparison.relationships)),
    )
    head = Text(f"{number}  {comparison.question.question}", style="bold yellow")
    return Padding(Group(Rule(style="dim"), head, Padding(body, (0, 0, 0, 3))), (0, 0, 1, 0))


def _heading(title: str, found: int, expected: int) -> Text:
    return Text.assemble((title, "underline"), (f"  {found} of {expected}", _FOUND if found else "red"))


def _node(result: NodeSearchResult, comparison: Comparison) -> RenderableType:
    line = Text.assemble(_person(result.node.name, comparison), (f" {result.node.label}", "dim"))
    return _scored(result.similarity, line)


def _relationship(result: RelationshipSearchResult, comparison: Comparison) -> RenderableType:
    line = Text.assemble(
        _person(result.from_name, comparison),
        " → ",
        (result.relationship_type, "magenta"),
        " → ",
        _person(result.to_name, comparison),
    )
    if not {result.from_name, result.to_name} & comparison.question.expected:
        line.stylize("dim")
        return _scored(result.similarity, line)
    return _scored(result.similarity, Group(line, Text(result.description, style="italic")))


def _person(name: str, comparison: Comparison) -> Text:
    return Text(f"✓ {name}", style=_FOUND) if name in comparison.question.expected else Text(name)


def _scored(similarity: float, what: RenderableType) -> RenderableType:
    row = Table.grid(padding=(0, 1, 0, 0))
    row.add_column(style="cyan", no_wrap=True)
    row.add_column()
    row.add_row(f"{similarity:.2f}", what)
    return row


def _totals(totals: Mapping[str, int]) -> RenderableType:
    line = Text.assemble(
        "Expected people found: node search alone ",
        (f"{totals['by_nodes']} of {totals['expected']}", "" if totals["by_nodes"] else "red"),
        ", with relationship search ",
        (f"{totals['with_relationships']} of {totals['expected']}", _FOUND),
        ".",
        style="bold",
    )
    return Padding(Group(Rule(style="dim"), line), (0, 0, 1, 0))
