from tests.support.fixtures import embedder
from tests.support.openai_fixtures import openai, running_openai
from tests.support.own_ontology import lent_ontology, own

__all__ = ["embedder", "lent_ontology", "openai", "own", "running_openai"]
