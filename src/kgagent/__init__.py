"""Lets an LLM agent keep a knowledge graph in Neo4j and search its relationships by meaning."""

from kgagent.errors import KgAgentError
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.ontology import Ontology, default_ontology, load_ontology
from kgagent.settings import Settings

__all__ = [
    "KgAgentError",
    "KnowledgeGraph",
    "Ontology",
    "Settings",
    "default_ontology",
    "load_ontology",
]
