"""What binds nodes and relationships in turn, and what must hold of them, as one text."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Clause:
    """A MATCH, or a subquery that binds more.

    Attributes:
        text: Cypher.
        known: place of the last node that is bound after it.
        is_match: whether WHERE may follow; else it needs a WITH before it.
    """

    text: str
    known: int
    is_match: bool


@dataclass
class Clauses:
    """The parts of a pattern's text as they come together.

    Attributes:
        binding: what binds nodes and relationships, in this order.
        predicates: what must hold, each with the place of the last node that it is about.
    """

    binding: list[Clause] = field(default_factory=list)
    predicates: list[tuple[int, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The clauses, each followed by what can be decided as soon as it is there."""
        lines, decided = [], -1
        for clause in self.binding:
            lines.append(clause.text)
            due = [predicate for place, predicate in self.predicates if decided < place <= clause.known]
            if due:
                lines.append(("WHERE " if clause.is_match else "WITH * WHERE ") + "\n  AND ".join(due))
            decided = clause.known
        return "\n".join(lines)
