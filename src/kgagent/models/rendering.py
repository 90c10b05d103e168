"""Rendering for models: nodes and relationships as lines of text, within a token budget."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from kgagent.models.graph import GraphNode, GraphRelationship
from kgagent.models.note import notes_text_at
from kgagent.models.search import ExploredNode, ExploreResult, RelationshipSearchResult

Lines = list[str]

_LETTERS_OF_A_TOKEN = 4
_DIGITS_OF_A_TOKEN = 3
_PIECE = re.compile(r"(?P<letters>[A-Za-z]+)|(?P<digits>\d+)|(?P<ascii>[!-~])|(?P<line>\n)|(?P<other>[^\s!-~])")


def estimated_tokens(text: str) -> int:
    """Estimate how many tokens a text is, rather too many than too few.

    A word counts one token for every four letters or part of them, a number one for every three digits, a punctuation
    mark one, and a character beyond ASCII two; tokenizers of current models mostly need fewer.
    """
    return sum(map(_tokens_of, _PIECE.finditer(text)))


def fit(blocks: Iterable[Lines], token_budget: int, count_tokens: Callable[[str], int]) -> str:
    """Join blocks of lines in order while they fit.

    A block that does not fit is cut to the lines that do; if not even its first line fits, it is omitted, and later
    blocks may still fit. A line costs its tokens and one for its end.
    """
    kept: Lines = []
    left = token_budget
    for block in blocks:
        for line in block:
            cost = count_tokens(line) + (1 if kept else 0)
            if cost > left:
                break
            kept.append(line)
            left -= cost
    return "\n".join(kept)


def node_lines(node: GraphNode, now: datetime) -> Lines:
    """A node: its name and label, then its description and notes."""
    return _lines(f"Object: {node.name or node.entity_key} ({node.label})", node.description, _notes(node, now))


def relationship_lines(relationship: GraphRelationship, now: datetime, path: Sequence[str] = ()) -> Lines:
    """A relationship: its triplet, then the path to it, its description, levels and notes."""
    words = relationship.level_words
    return _lines(
        f"Relationship: {relationship.triplet}",
        f"Via: {'; '.join(path)}" if path else "",
        relationship.description,
        words and f"Attitude and proximity: {words}",
        _notes(relationship, now),
    )


def explored_text(result: ExploreResult, now: datetime, *, explain: bool = False) -> str:
    """The result of `explore` with one line for each node and relationship.

    Args:
        result: what was found.
        now: notes that have expired by then are omitted.
        explain: whether each node says which searches found it.
    """
    if not result.nodes and not result.relationships:
        return ""
    parts = ["Nodes:", *(_explored_node(item, now, explain=explain) for item in result.nodes)]
    parts += ["Relationships:", *(_explored_relationship(item, now) for item in result.relationships)]
    if result.neighbours:
        names = (f"{node.name} ({node.label}, {node.entity_key})" for node in result.neighbours)
        parts.append("Neighbours: " + ", ".join(names))
    return "\n".join(map(_flat, parts))


def _explored_node(item: ExploredNode, now: datetime, *, explain: bool) -> str:
    node = item.node
    line = f"- {node.name} ({node.label}, {node.entity_key})" + (f": {node.description}" if node.description else "")
    if explain:
        reasons = (f"{s.source} #{s.rank} {s.similarity:.2f} {s.matched!r}" for s in item.signals)
        line += f" [score {item.score:.4f}; {'; '.join(reasons)}]"
    return line + _explored_notes(node, now)


def _explored_relationship(item: GraphRelationship, now: datetime) -> str:
    words = item.level_words
    line = f"- {item.from_name} -[{item.relationship_type}]-> {item.to_name}" + (f" ({words})" if words else "")
    if item.similarity is not None:
        line += f" [similarity {item.similarity:.2f}]"
    if item.description:
        line += f": {item.description}"
    if isinstance(item, RelationshipSearchResult) and item.path:
        line += f" Via: {'; '.join(item.path)}"
    return line + _explored_notes(item, now)


def _explored_notes(item: GraphNode | GraphRelationship, now: datetime) -> str:
    notes = " | ".join(note.content for note in item.notes if note.is_current(now))
    return f" Notes: {notes}" if notes else ""


def _lines(first: str, *others: str) -> Lines:
    """Flat lines, so that no stored text can pose as a line of its own."""
    return [_flat(first), *(f"  {_flat(other)}" for other in others if other)]


def _flat(text: str) -> str:
    return " ".join(text.split())


def _notes(item: GraphNode | GraphRelationship, now: datetime) -> str:
    text = notes_text_at(item.notes, now)
    return f"Notes: {text}" if text else ""


def _tokens_of(piece: re.Match[str]) -> int:
    length = len(piece.group())
    if piece.lastgroup == "letters":
        return -(-length // _LETTERS_OF_A_TOKEN)
    if piece.lastgroup == "digits":
        return -(-length // _DIGITS_OF_A_TOKEN)
    return 2 if piece.lastgroup == "other" else 1
