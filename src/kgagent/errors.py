"""Every exception that kgagent raises.

KgAgentError
├── ConfigurationError              the settings, the ontology or an embedder cannot be used
├── InputError (a ValueError)       an argument is invalid
│   ├── NotFoundError               the named record does not exist in the user's graph
│   │   └── NodeNotFoundError       the user has no node with that entity_key or name
│   ├── AlreadyExistsError          the record to create exists
│   └── InvalidLevelError           a level is neither 1 to 5 nor a word of its type
├── ConflictError                   concurrent writes won, however often the write was retried
├── BusyError                       too many calls are waiting; try again later
├── EmbeddingError                  texts could not be embedded
│   ├── EmbeddingUnavailableError   the model could not be reached, after retries
│   └── EmbeddingResponseError      the model's response was invalid
├── RerankingError                  the cross-encoder's response was invalid
├── SearchError                     a search failed as a whole
├── StoreError                      the database refused a statement or could not be reached
│   ├── UnreachableError            the database does not answer
│   ├── SchemaError                 indexes or constraints are missing or do not fit
│   ├── ConstraintViolationError    a write would have broken a uniqueness constraint
│   ├── EntityGoneError             a concurrent write deleted a record that the write needs
│   ├── StatementTimeoutError       the server ended a statement that took too long
│   └── StatementValueError         an operator of Cypher does not accept a value
├── MigrationStoppedError           a migration failed midway; its report says what was done
└── LocalServerError                the local Neo4j cannot be managed
    ├── DownloadError               its files cannot be downloaded or are damaged
    └── ServerStartError            it did not start

`MigrationStoppedError` is defined in `kgagent.upkeep.migration_report`. All of them can be imported
from `kgagent`.
"""


class KgAgentError(Exception):
    """Base of all errors of kgagent; the text says what was wrong and what to do."""


class ConfigurationError(KgAgentError):
    """The settings, the ontology or an embedder cannot be used."""


class InputError(KgAgentError, ValueError):
    """An argument is invalid."""


class NotFoundError(InputError):
    """The named record does not exist in the user's graph."""


class NodeNotFoundError(NotFoundError):
    """The user has no node with that entity_key or name.

    Attributes:
        hint: what the caller may have meant; part of the text.
    """

    def __init__(self, problem: str, hint: str = "") -> None:
        """Describe the problem, and what the caller may have meant."""
        super().__init__(problem, hint)
        self.problem = problem
        self.hint = hint

    def __str__(self) -> str:
        """The problem and the hint."""
        return ". ".join(filter(None, (self.problem, self.hint)))


class AlreadyExistsError(InputError):
    """The record to create exists."""


class InvalidLevelError(InputError):
    """An attitude or proximity is neither 1 to 5 nor a word of its Neo4j type.

    Attributes:
        field: "attitude" or "proximity".
    """

    def __init__(self, field: str, problem: str) -> None:
        """Describe the problem."""
        super().__init__(field, problem)
        self.field = field
        self.problem = problem

    def __str__(self) -> str:
        """The problem."""
        return self.problem


class ConflictError(KgAgentError):
    """A write still conflicted with concurrent writes after all retries."""


class BusyError(KgAgentError):
    """Too many calls run and wait; the text says when to try again."""


class EmbeddingError(KgAgentError):
    """Texts could not be embedded."""


class EmbeddingUnavailableError(EmbeddingError):
    """The embedding model could not be reached, after retries."""


class EmbeddingResponseError(EmbeddingError):
    """The response of the embedding model was invalid."""


class RerankingError(KgAgentError):
    """The response of a cross-encoder was not one number for each text."""


class SearchError(KgAgentError):
    """A search failed: every retriever failed, or time ran out."""


class StoreError(KgAgentError):
    """The database refused a statement or could not be reached."""


class UnreachableError(StoreError):
    """The database does not answer; calls succeed again as soon as it does."""


class SchemaError(StoreError):
    """Indexes or constraints are missing or do not fit the embedder or the ontology."""


class ConstraintViolationError(StoreError):
    """A write would have broken a uniqueness constraint; nothing was written."""


class EntityGoneError(StoreError):
    """A concurrent write deleted a record that this write needs; nothing was written."""


class StatementTimeoutError(StoreError):
    """The server ended a statement that took too long."""


class StatementValueError(StoreError):
    """An operator of Cypher does not accept a value."""


class LocalServerError(KgAgentError):
    """The local Neo4j cannot be managed."""


class DownloadError(LocalServerError):
    """The files of the local Neo4j or of the local model cannot be downloaded, or are damaged."""


class ServerStartError(LocalServerError):
    """The local Neo4j did not start."""
