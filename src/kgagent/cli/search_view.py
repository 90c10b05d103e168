"""What a hybrid search found, as a table."""

from datetime import UTC, datetime

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kgagent.models.hybrid import HybridObject, HybridRelationship, HybridSearchResult, RetrieverName
from kgagent.models.note import notes_text_at

_SIGNS: dict[RetrieverName, str] = {
    "node_vector": "meaning",
    "node_fulltext": "words",
    "relationship_vector": "meaning",
    "relationship_fulltext": "words",
    "via_relationship": "relationship",
}


def found_table(result: HybridSearchResult, user_id: str) -> RenderableType:
    """Nodes and relationships in one ranking; a hint where nothing was found."""
    if not result.items:
        return Text(f"Nothing found in the graph of user {user_id}. --user takes another graph.")
    table = Table(box=None, pad_edge=False, expand=True)
    table.add_column("", justify="right", style="dim", no_wrap=True)
    table.add_column("found by", style="cyan", no_wrap=True)
    table.add_column("", ratio=1)
    table.add_column("description", ratio=1)
    for item in result.items:
        table.add_row(str(item.rank), _reasons(item), _said(item), _about(item))
    return table


def _reasons(item: HybridObject | HybridRelationship) -> str:
    return ", ".join(dict.fromkeys(_SIGNS[finder] for finder in item.found_by))


def _said(item: HybridObject | HybridRelationship) -> Text:
    if isinstance(item, HybridObject):
        return Text.assemble((item.name or item.entity_key, "bold"), (f" {item.label}", "dim"))
    said = Text(item.triplet_text, style="magenta")
    return Text("\n").join([said, *(Text(f"after {step}", style="dim") for step in item.path[-1:])])


def _about(item: HybridObject | HybridRelationship) -> Text:
    notes = notes_text_at(item.notes, datetime.now(UTC))
    return Text("\n").join(part for part in (Text(item.description), Text(notes, style="dim")) if part)
