from tests.support.fixtures import database, embedder
from tests.support.own_ontology import lent_ontology, own

__all__ = ["database", "embedder", "lent_ontology", "own"]
