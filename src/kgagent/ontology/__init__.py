"""The graph's vocabulary as data: labels, relationship types, words, key rules and note
lifetimes.
"""

from kgagent.ontology.definitions import NodeLabel, RelationshipDefinition
from kgagent.ontology.load import default_ontology, dump_ontology, load_ontology
from kgagent.ontology.model import Ontology

__all__ = [
    "NodeLabel",
    "Ontology",
    "RelationshipDefinition",
    "default_ontology",
    "dump_ontology",
    "load_ontology",
]
