"""What `explore` found, as tables."""

from datetime import UTC, datetime

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kgagent.models import ExploredNode, ExploreResult, GraphRelationship, Signal

RELATIONSHIPS_SHOWN = 10
"""Those that matched come first; those around the nodes fill up."""

_SIGNS = {"node": "own text", "relationship": "relationship", "text": "name"}


def found_tables(result: ExploreResult, user_id: str) -> list[RenderableType]:
    """Nodes, relationships and neighbours; a hint where nothing was found."""
    if not result.nodes and not result.relationships:
        return [
            f"Nothing found in the graph of user {user_id}. A lower --threshold finds more; --user takes another graph."
        ]
    shown: list[RenderableType] = [_nodes(result)]
    if result.relationships:
        shown += ["", _relationships(result)]
    if len(result.relationships) > RELATIONSHIPS_SHOWN:
        more = len(result.relationships) - RELATIONSHIPS_SHOWN
        shown.append(f"[dim]and {more} more that join or surround these nodes; --json has all of them[/dim]")
    if result.neighbours:
        names = ", ".join(node.name for node in result.neighbours)
        shown += ["", Text.assemble(("Around them: ", "bold"), (names, "dim"))]
    return shown


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold yellow", box=None, pad_edge=False, expand=True)


def _nodes(result: ExploreResult) -> Table:
    table = _table(f"{len(result.nodes)} {'node' if len(result.nodes) == 1 else 'nodes'}")
    table.add_column("found by", style="cyan", no_wrap=True)
    table.add_column("node", ratio=2)
    table.add_column("description", ratio=4)
    for item in result.nodes:
        name = Text.assemble((item.node.name, "bold"), (f" {item.node.label}", "dim"))
        table.add_row(_reasons(item), name, Text(item.node.description))
    return table


def _relationships(result: ExploreResult) -> Table:
    count = len(result.relationships)
    table = _table(f"{count} {'relationship' if count == 1 else 'relationships'}")
    table.add_column("", style="cyan", no_wrap=True, width=4)
    table.add_column("relationship", ratio=3)
    table.add_column("description", ratio=5)
    for item in result.relationships[:RELATIONSHIPS_SHOWN]:
        similarity = "" if item.similarity is None else f"{item.similarity:.2f}"
        table.add_row(similarity, _ends(item), _said(item))
    return table


def _reasons(item: ExploredNode) -> str:
    best: dict[str, Signal] = {}
    for signal in item.signals:
        if signal.source not in best or signal.similarity > best[signal.source].similarity:
            best[signal.source] = signal
    ordered = sorted(best.values(), key=lambda signal: -signal.similarity)
    return "\n".join(f"{signal.similarity:.2f} {_SIGNS[signal.source]}" for signal in ordered)


def _ends(item: GraphRelationship) -> Text:
    said = item.relationship_type or item.neo4j_type
    return Text.assemble((item.from_name, "bold"), " → ", (said, "magenta"), " → ", (item.to_name, "bold"))


def _said(item: GraphRelationship) -> Text:
    words = item.level_words
    now = datetime.now(UTC)
    notes = " · ".join(note.content for note in item.notes if note.is_current(now))
    parts = [Text(item.description), Text(words, style="green"), Text(notes, style="dim")]
    return Text("\n").join(part for part in parts if part)
