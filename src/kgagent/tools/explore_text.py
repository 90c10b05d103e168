"""What `explore` found, as compact lines for a model to read."""

from datetime import datetime

from kgagent.models import ExploredNode, ExploreResult, GraphRelationship


def as_text(result: ExploreResult, *, explain: bool, now: datetime) -> str:
    """Write nodes, relationships and neighbours, a line each; notes that have expired by `now` are left out."""
    parts = ["Nodes:", *(_node(item, explain=explain) for item in result.nodes)]
    parts += ["Relationships:", *(_relationship(item, now) for item in result.relationships)]
    if result.neighbours:
        names = (f"{node.name} ({node.label}, {node.entity_key})" for node in result.neighbours)
        parts.append("Neighbours: " + ", ".join(names))
    return "\n".join(" ".join(part.split()) for part in parts)


def _node(item: ExploredNode, *, explain: bool) -> str:
    node = item.node
    line = f"- {node.name} ({node.label}, {node.entity_key})" + (f": {node.description}" if node.description else "")
    if explain:
        reasons = (f"{s.source} #{s.rank} {s.similarity:.2f} {s.matched!r}" for s in item.signals)
        line += f" [score {item.score:.4f}; {'; '.join(reasons)}]"
    return line


def _relationship(item: GraphRelationship, now: datetime) -> str:
    words = item.level_words
    line = f"- {item.from_name} -[{item.relationship_type}]-> {item.to_name}" + (f" ({words})" if words else "")
    if item.similarity is not None:
        line += f" [similarity {item.similarity:.2f}]"
    if item.description:
        line += f": {item.description}"
    notes = " | ".join(note.content for note in item.notes if note.is_current(now))
    return line + (f" Notes: {notes}" if notes else "")
