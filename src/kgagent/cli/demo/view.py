"""Prints the result of the demo, for 80 or more columns, with or without colors."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kgagent.cli.demo.comparison import LIMIT, Comparison, DemoResult
from kgagent.formatting import counted

_MATCH = "bold green"


def result_view(result: DemoResult) -> Iterator[RenderableType]:
    """The questions with their results, and the totals."""
    report = result.report
    loaded = "loaded" if report.changed else "already loaded, checked"
    yield Text.assemble(
        "\nThe novel Middlemarch, and a reader with mentors, friends and family: ",
        (
            f"{counted(report.nodes.total, 'node')} and "
            f"{counted(report.relationships.total, 'relationship')}",
            "bold",
        ),
        f" in Neo4j {result.version} ({loaded} in {report.seconds:.1f} s). Embeddings: "
        f"{result.embedder}.\n"
        f"Each question searches nodes alone, then also relationships; the best {LIMIT} of each, "
        f"with cosine "
        "similarity. ",
        ("✓", _MATCH),
        " marks the people that a reader would name.",
    )
    for comparison in result.comparisons:
        yield _question(comparison)
    expected, by_nodes, with_relationships = result.counts()
    yield Text.assemble(
        "\nExpected people found: node search alone ",
        f"{by_nodes} of {expected}, with relationship search ",
        (f"{with_relationships} of {expected}", _MATCH),
        ".\n",
        style="bold",
    )


def _question(comparison: Comparison) -> RenderableType:
    question = comparison.question
    title = Text(f"\n{question.question}", style="bold yellow")
    table = Table(title=title, title_justify="left", box=None, expand=True)
    for name, matches in (
        ("node search alone", comparison.found_by_nodes),
        ("with relationship search", comparison.found_with_relationships),
    ):
        table.add_column(f"{name}: {len(matches)} of {len(question.expected)}", ratio=1)
    nodes, relationships = Text(), Text()
    for node in comparison.nodes:
        nodes.append(f"{node.similarity:.2f} ", "cyan").append_text(
            _person(node.node.name, comparison)
        ).append("\n")
    for found in comparison.relationships:
        relationships.append(f"{found.similarity:.2f} ", "cyan").append_text(
            _person(found.from_name, comparison)
        )
        relationships.append(" → ").append(found.relationship_type, "magenta").append(" → ")
        relationships.append_text(_person(found.to_name, comparison)).append("\n")
    table.add_row(nodes, relationships)
    return table


def _person(name: str, comparison: Comparison) -> Text:
    return Text(f"✓ {name}", style=_MATCH) if name in comparison.question.expected else Text(name)
