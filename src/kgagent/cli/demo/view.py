"""The demo's outcome, for 80 columns and more, with colours and without."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from kgagent.cli.demo.asking import FURTHER_NODES, HITS, Answer
from kgagent.cli.demo.run import USER, Outcome
from kgagent.models import NodeSearchResult, RelationshipSearchResult

_FOUND = "bold green"


def outcome_view(outcome: Outcome) -> Iterator[RenderableType]:
    """The questions with their answers, the totals, the times."""
    yield _opening(outcome)
    for number, answer in enumerate(outcome.answers, start=1):
        yield _question(number, answer)
    yield _totals(outcome)


def next_steps(*, is_local: bool, program: str) -> RenderableType:
    """Commands to go on with, for the program as it was called."""
    steps = [
        (f'{program} explore "a love match" --user {USER}', "ask something else"),
        (f"{program} view --user {USER}", "search and see it on a page"),
        (f"{program} load FILE.jsonl", "bring in your own graph"),
        (f"{program} down", "end the local Neo4j") if is_local else (f"{program} status", "see what is used"),
    ]
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for command, why in steps:
        table.add_row(Text(command, style="cyan"), Text(why, style="dim"))
    head = Text("Next", style="bold")
    if is_local:
        head.append("  (the local Neo4j stays up, so that it answers at once)", style="not bold dim")
    return Group(head, Padding(table, (0, 0, 1, 2)))


def _opening(outcome: Outcome) -> RenderableType:
    report = outcome.report
    text = Text.assemble(
        ("Middlemarch, and a reader of it with mentors, friends and family of her own: ", ""),
        (f"{report.nodes.total} nodes and {report.relationships.total} relationships", "bold"),
        (" in Neo4j ", ""),
        (outcome.version, ""),
        (f" ({_loaded(outcome)}). Embeddings: {outcome.embedder}.", ""),
    )
    rule = Text.assemble("Each question is put to ", ("nodes", "bold"), " alone, then to ", ("relationships", "bold"))
    rule.append(f" too; the best {HITS} of each, with cosine similarity. ")
    rule.append("✓", style=_FOUND)
    rule.append(" marks the people that a reader would name.")
    return Padding(Group(text, rule), (1, 0))


def _loaded(outcome: Outcome) -> str:
    report = outcome.report
    if not report.changed:
        return f"loaded before, unchanged, checked in {report.seconds:.1f} s"
    return f"loaded in {report.seconds:.1f} s, {report.embedded} embeddings"


def _question(number: int, answer: Answer) -> RenderableType:
    times = answer.times
    head = Table.grid(expand=True)
    head.add_column(ratio=1)
    head.add_column(justify="right", style="dim", no_wrap=True)
    head.add_row(
        Text(f"{number}  {answer.question.question}", style="bold yellow"),
        f"embed {times.embedding:.0f} ms, nodes {times.nodes:.0f} ms, relationships {times.relationships:.0f} ms",
    )
    body = Table.grid(expand=True, padding=(0, 2, 0, 0))
    body.add_column(ratio=3)
    body.add_column(ratio=5)
    expected = len(answer.question.expected)
    body.add_row(
        _heading("node search alone", len(answer.found_by_nodes), expected),
        _heading("with relationship search", len(answer.found_with_relationships), expected),
    )
    body.add_row(
        Group(*(_node(hit, answer) for hit in answer.nodes)),
        Group(*(_relationship(hit, answer) for hit in answer.relationships)),
    )
    return Padding(Group(Rule(style="dim"), head, Padding(body, (0, 0, 0, 3))), (0, 0, 1, 0))


def _heading(title: str, found: int, expected: int) -> Text:
    return Text.assemble((title, "underline"), (f"  {found} of {expected}", _FOUND if found else "red"))


def _node(hit: NodeSearchResult, answer: Answer) -> RenderableType:
    line = _person(hit.node.name, answer)
    line.append(f" {hit.node.label}", style="dim")
    return _scored(hit.similarity, line)


def _relationship(hit: RelationshipSearchResult, answer: Answer) -> RenderableType:
    ends = {hit.from_name, hit.to_name}
    line = Text.assemble(
        _person(hit.from_name, answer),
        " → ",
        (hit.relationship_type, "magenta"),
        " → ",
        _person(hit.to_name, answer),
    )
    if not ends & answer.question.expected:
        line.stylize("dim")
        return _scored(hit.similarity, line)
    return _scored(hit.similarity, Group(line, Text(hit.description, style="italic")))


def _person(name: str, answer: Answer) -> Text:
    if name in answer.question.expected:
        return Text(f"✓ {name}", style=_FOUND)
    return Text(name)


def _scored(similarity: float, what: RenderableType) -> RenderableType:
    row = Table.grid(padding=(0, 1, 0, 0))
    row.add_column(style="cyan", no_wrap=True)
    row.add_column()
    row.add_row(f"{similarity:.2f}", what)
    return row


def _totals(outcome: Outcome) -> RenderableType:
    totals = outcome.totals
    line = Text.assemble(
        ("Expected people found: node search alone ", "bold"),
        (f"{totals.by_nodes} of {totals.expected}", "bold red" if not totals.by_nodes else "bold"),
        (", with relationship search ", "bold"),
        (f"{totals.with_relationships} of {totals.expected}", _FOUND),
        (".", "bold"),
    )
    rest = Text(
        f"Even among its first {FURTHER_NODES} nodes a question, node search has {totals.by_further_nodes}. "
        f"A search of nodes and relationships took {outcome.median_search:.0f} ms, the embedding of a question "
        f"{outcome.median_embedding:.0f} ms (medians).",
        style="dim",
    )
    return Padding(Group(Rule(style="dim"), line, rest), (0, 0, 1, 0))
