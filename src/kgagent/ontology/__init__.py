"""The graph's vocabulary as data: labels, relationship kinds, words, key rules, lifetimes of notes."""

from kgagent.ontology.load import default_ontology, load_ontology
from kgagent.ontology.model import NodeLabel, Ontology, RelationshipDefinition

__all__ = ["NodeLabel", "Ontology", "RelationshipDefinition", "default_ontology", "load_ontology"]
