"""What was forgotten."""

from pydantic import BaseModel, ConfigDict

from kgagent.formatting import counted


class ForgetReport(BaseModel):
    """What was forgotten, or with `dry_run` would be.

    Attributes:
        nodes: number of nodes.
        relationships: number of relationships.
        deleted: number of deleted nodes and relationships that were kept so that they can be restored.
        items: number of items that programs stored beside the graph, such as those of a LangGraph store.
        notes: number of notes of a source that were removed from records that stay.
        merged_sources: number of nodes that stay from which the ingestion progress of the source was removed.
        other_nodes: number of nodes that have the user's id but labels outside the ontology; kgagent does not delete
            them. 0 for a single node.
        entity_key: key of the node that was forgotten; None for a user.
        dry_run: whether nothing was changed.
    """

    model_config = ConfigDict(frozen=True)

    nodes: int = 0
    relationships: int = 0
    deleted: int = 0
    items: int = 0
    notes: int = 0
    merged_sources: int = 0
    other_nodes: int = 0
    entity_key: str | None = None
    dry_run: bool = False

    def __str__(self) -> str:
        """The report in one line."""
        parts = [
            counted(self.nodes, "node"),
            counted(self.relationships, "relationship"),
            counted(self.deleted, "deleted record"),
        ]
        if self.items:
            parts.append(counted(self.items, "stored item"))
        if self.notes:
            parts.append(f"{counted(self.notes, 'note')} of other records")
        if self.merged_sources:
            parts.append(f"the progress of {counted(self.merged_sources, 'merged source')}")
        done = "would be forgotten" if self.dry_run else "forgotten"
        other = f"; {counted(self.other_nodes, 'node')} of other programs stay" if self.other_nodes else ""
        return f"{', '.join(parts[:-1])} and {parts[-1]} {done}{other}"
