"""Every exception that kgagent raises.

KgAgentError
├── ConfigurationError          settings, ontology or embedder cannot be used as given
├── InputError                  a value of the caller's is not one that it may be
│   ├── NotFoundError           what it names does not exist for this user
│   │   └── NodeNotFoundError       no node of this user has that key
│   └── AlreadyExistsError      what it would create is there already
├── ConflictError               other writers kept changing the record
├── EmbeddingError
│   ├── EmbeddingUnavailableError   the model could not be reached, retries included
│   └── EmbeddingResponseError      the model's answer was not what was asked for
├── RerankingError              a cross-encoder's answer was not what was asked for
├── SearchError                 no part of a search could be carried out
├── StoreError                  the database refused or could not be reached
│   └── SchemaError             indexes or constraints are missing or do not fit
└── LocalServerError            the local Neo4j
    ├── DownloadError           its files could not be had or are damaged
    └── ServerStartError        it did not come up
"""


class KgAgentError(Exception):
    """Base of all errors of kgagent; its text says what was wrong and what to do."""


class ConfigurationError(KgAgentError):
    """Settings, an ontology or an embedder cannot be used as given."""


class InputError(KgAgentError):
    """A value of the caller's is not one that it may be."""


class NotFoundError(InputError):
    """What the caller names does not exist for this user."""


class NodeNotFoundError(NotFoundError):
    """No node of this user has a key that the caller gave."""


class AlreadyExistsError(InputError):
    """What the caller would create is there already."""


class ConflictError(KgAgentError):
    """Other writers changed the record each time that this write was tried."""


class EmbeddingError(KgAgentError):
    """Texts could not be turned into embeddings."""


class EmbeddingUnavailableError(EmbeddingError):
    """The embedding model could not be reached, retries included."""


class EmbeddingResponseError(EmbeddingError):
    """The embedding model answered, but not with what was asked for."""


class RerankingError(KgAgentError):
    """A cross-encoder answered, but not with one number for each text."""


class SearchError(KgAgentError):
    """No part of a search that has several could be carried out."""


class StoreError(KgAgentError):
    """The database refused a statement or could not be reached."""


class SchemaError(StoreError):
    """Indexes or constraints are missing or do not fit the embedder or the ontology."""


class LocalServerError(KgAgentError):
    """The local Neo4j could not be managed."""


class DownloadError(LocalServerError):
    """The files of the local Neo4j or of the local model could not be had, or are damaged."""


class ServerStartError(LocalServerError):
    """The local Neo4j did not come up."""
