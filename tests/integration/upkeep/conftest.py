from tests.support.fixtures import embedder
from tests.support.own_ontology import lent_ontology, own

__all__ = ["embedder", "lent_ontology", "own"]
