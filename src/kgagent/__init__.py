"""Lets an LLM agent keep a knowledge graph in Neo4j, and search its relationships by meaning.

Every public exception, request and result can be imported from here. A name is imported when it is
first used, so that `import kgagent` costs next to nothing. `__init__.pyi` lists the names.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
