"""Instructions that explain to a model how to use the graph."""

from collections.abc import Collection

from kgagent.ontology import Ontology
from kgagent.tools.ontology_guide import level_words


def instructions(ontology: Ontology, tools: Collection[str]) -> str:
    """Instructions that every client receives when it connects.

    Args:
        ontology: provides the words for attitude and proximity.
        tools: names of the available tools.
    """
    text = "A person's knowledge graph in Neo4j: nodes and relationships, found by their meaning."
    if "hybrid_search" in tools:
        text += (
            " Search before you write: hybrid_search with a limit of 5 is short. "
            "The date after a note says when it happened."
        )
    if any(name.startswith(("create_", "update_", "add_", "remember")) for name in tools):
        text += (
            " Update what exists, do not create it again. If something ends or a plan is done, "
            "replace the "
            'relationship_type: "visited" for "plans to visit". What two nodes did or said is a '
            "note on their "
            "relationship; an event of several people (a dinner) is a node connected to each."
            "\nWords for attitude and proximity, 1 to 5, by labels (Neo4j type):\n"
            + level_words(ontology)
        )
    return text
