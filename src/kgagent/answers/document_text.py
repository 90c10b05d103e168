"""Nodes and relationships as the texts of documents, for retrievers and rerankers."""

from collections.abc import Sequence
from datetime import datetime

from kgagent.answers.trust_mark import trust_mark
from kgagent.formatting import in_one_line
from kgagent.models.graph import GraphNode, GraphRelationship

Lines = list[str]


def node_lines(node: GraphNode, now: datetime) -> Lines:
    """A node: its name and label, then its description and notes."""
    return _lines(
        f"Object: {node.name or node.entity_key} ({node.label})",
        _description(node),
        _notes(node, now),
    )


def relationship_lines(
    relationship: GraphRelationship, now: datetime, path: Sequence[str] = ()
) -> Lines:
    """A relationship: its triplet, then the path to it, its description, levels and notes."""
    words = relationship.level_words
    return _lines(
        f"Relationship: {relationship.triplet}",
        f"Via: {'; '.join(path)}" if path else "",
        _description(relationship),
        words and f"Attitude and proximity: {words}",
        _notes(relationship, now),
    )


def _lines(first: str, *others: str) -> Lines:
    """Flat lines, so that no stored text can pose as a line of its own."""
    return [in_one_line(first), *(f"  {in_one_line(other)}" for other in others if other)]


def _description(item: GraphNode | GraphRelationship) -> str:
    return item.description and item.description + trust_mark(item.trust)


def _notes(item: GraphNode | GraphRelationship, now: datetime) -> str:
    current = (note for note in item.notes if note.is_current(now))
    text = " ".join(note.content + trust_mark(note.trust) for note in current)
    return f"Notes: {text}" if text else ""
