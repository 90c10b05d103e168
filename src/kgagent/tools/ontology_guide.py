"""The ontology for a model: which labels can be related, and the words for the levels."""

from kgagent.ontology import Ontology


def level_words(ontology: Ontology) -> str:
    """The pairs of labels and the words for attitude and proximity, one line for each relationship
    type.
    """
    fields = ("attitude", "proximity")
    return "\n".join(
        ": ".join(
            filter(
                None,
                (
                    f"{kind} ({neo4j_type})",
                    "; ".join(
                        f"{field} {'/'.join(kind.words(field))}"
                        for field in fields
                        if kind.words(field)
                    ),
                ),
            )
        )
        for neo4j_type, kind in ontology.relationships.items()
    )


def ontology_guide(ontology: Ontology) -> str:
    """Labels, the pairs of labels that each Neo4j type connects, the words for the levels, and
    lifetimes of notes.
    """
    once = [label for label, rule in ontology.labels.items() if rule.key_includes_name]
    lifetimes = ", ".join(ontology.note_lifetimes_in_days)
    return "\n".join(
        [
            f"Labels: {', '.join(ontology.labels)}.",
            *(
                [f"Only one node of a name exists with the label {' or '.join(once)}."]
                if once
                else []
            ),
            "Relationships by labels (Neo4j type), and the words for the levels 1 to 5:",
            level_words(ontology),
            f"Lifetimes of notes: {lifetimes}; default: {ontology.default_note_lifetime}.",
        ]
    )
