"""Settings from environment variables and from a `.env` file in the working directory."""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AliasChoices,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import InitErrorDetails
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from kgagent.errors import ConfigurationError
from kgagent.formatting import without_credentials
from kgagent.names import did_you_mean
from kgagent.trust import Trust
from kgagent.validation import explain_validation_error

EmbedderName = Literal["auto", "openai", "local", "hashing"]
IndexQuantization = Literal["none", "scalar", "binary"]
ToolsetName = Literal["core", "graph", "patterns", "admin", "all"]
PathRanking = Literal["PATH_LENGTH", "EDGE_WEIGHT", "NODE_CENTRALITY", "SEMANTIC_SCORE", "HYBRID"]

_ADDRESSES = ("neo4j_uri", "openai_base_url")


def _env(name: str) -> AliasChoices:
    return AliasChoices(name, name.lower())


class Settings(BaseSettings):
    """Settings from environment variables and a `.env` file. `repr` and `str` hide secrets."""

    model_config = SettingsConfigDict(
        env_prefix="KGAGENT_",
        env_file=".env",
        extra="ignore",
        populate_by_name=True,
        frozen=True,
        allow_inf_nan=False,
    )

    if not TYPE_CHECKING:

        def __init__(self, **values: Any) -> None:  # noqa: ANN401
            """Read the settings; arguments override the environment.

            Raises:
                ConfigurationError: a value is invalid.
            """
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise ConfigurationError(f"Invalid settings: {_explained(error)}") from None

    neo4j_uri: str | None = Field(
        None,
        validation_alias=_env("NEO4J_URI"),
        description="Address of the Neo4j server. Default: a local server, which is started.",
    )
    neo4j_username: str = Field(
        "neo4j", validation_alias=_env("NEO4J_USERNAME"), description="Name to log in with."
    )
    neo4j_password: SecretStr | None = Field(
        None, validation_alias=_env("NEO4J_PASSWORD"), description="Password to log in with."
    )
    neo4j_database: str | None = Field(
        None,
        validation_alias=_env("NEO4J_DATABASE"),
        description="Database. Default: the home database of the user.",
    )

    openai_api_key: SecretStr | None = Field(
        None,
        validation_alias=_env("OPENAI_API_KEY"),
        description="API key for OpenAI's embeddings.",
    )
    openai_base_url: str | None = Field(
        None,
        validation_alias=_env("OPENAI_BASE_URL"),
        description="Address of another server with OpenAI's API.",
    )

    user_id: str = Field(
        "me", min_length=1, description="Owner of the graph that the command line reads and writes."
    )
    trust: Trust = Field(
        "own",
        description="How far what this process writes is trusted, unless a call says otherwise: "
        "own, known or unknown.",
    )
    ontology: Path | None = Field(
        None,
        description=(
            "YAML file with labels, relationship definitions and words. Default: the default "
            "ontology."
        ),
    )

    toolsets: Annotated[tuple[ToolsetName, ...], NoDecode] = Field(
        ("core",),
        min_length=1,
        description="Toolsets that MCP, LangChain and OpenAI offer to a model, separated by "
        "commas: core, graph, "
        "patterns, admin, or all.",
    )

    embedder: EmbedderName = Field(
        "auto", description="Embedder. auto: OpenAI if OPENAI_API_KEY is set, else the local model."
    )
    local_model: str = Field(
        "bge-small-en-v1.5-q",
        description="Local model: bge-small-en-v1.5-q or e5-small-v2-q, which are downloaded, or a "
        "folder with a "
        "sentence embedding model in ONNX format.",
    )
    query_prefix: str = Field(
        "",
        description=(
            'Text that the embedding model expects before a search query, such as "query: ".'
        ),
    )
    passage_prefix: str = Field(
        "",
        description="Text that the embedding model expects before a text to store, such as "
        '"passage: ". A downloaded model has its own.',
    )
    embedding_model: str = Field(
        "text-embedding-3-small", description="OpenAI's name of the embedding model."
    )
    embedding_dimensions: int = Field(
        1536, ge=1, le=4096, description="Length of that model's embeddings."
    )
    embedding_timeout: float = Field(
        30.0, gt=0, description="Timeout of one embedding request, in seconds."
    )
    embedding_attempts: int = Field(
        5, ge=1, description="Attempts of one embedding request, including the first."
    )
    query_cache_size: int = Field(
        512, ge=0, description="Number of query embeddings in the cache; 0 turns it off."
    )

    exact_scan_limit: int | None = Field(
        None,
        ge=0,
        description=(
            "If a user has at most this many relationships (or nodes of a label), all of them are "
            "compared. "
            "Default: 100 if the index filters by user, 2,000 on older servers."
        ),
    )
    oversampling: int = Field(
        20,
        ge=1,
        description=(
            "Candidates that a search requests from a vector index, as a multiple of its limit."
        ),
    )
    index_quantization: IndexQuantization = Field(
        "none",
        description=(
            "Index option: quantization of vectors; none has the best recall, binary the smallest "
            "size."
        ),
    )
    index_m: int = Field(
        32, ge=1, le=512, description="Index option: neighbors of each vector in the HNSW graph."
    )
    index_ef_construction: int = Field(
        100,
        ge=1,
        le=3_200,
        description=(
            "Index option: candidates from which the neighbors are chosen; higher values slow down "
            "indexing."
        ),
    )
    index_search_expansion: float = Field(
        20.0,
        ge=1,
        le=10_000,
        description="Index option: candidates compared, as a multiple of those requested.",
    )
    hybrid_limit: int = Field(32, ge=1, le=100, description="Default limit of a hybrid search.")
    patterns_enabled: bool = Field(True, description="Whether query_patterns is enabled.")
    patterns_max_paths: int = Field(
        100, ge=1, le=10_000, description="Maximum number of paths of a pattern query."
    )
    patterns_ranking: PathRanking = Field("HYBRID", description="How paths are ranked.")
    patterns_strict: bool = Field(
        False,
        description=(
            "Whether a query without a matching path fails, instead of falling back to a semantic "
            "search."
        ),
    )
    patterns_use_all_relation_hints: bool = Field(
        True,
        description=(
            "Whether a traversal from targets follows all given relationship types, or only the "
            "first."
        ),
    )
    patterns_explored: int = Field(
        5_000,
        ge=1,
        le=1_000_000,
        description="Paths that one statement examines before it returns the best.",
    )
    patterns_timeout: float = Field(
        10.0,
        gt=0,
        description="Timeout of a pattern query, of all its statements together, in seconds.",
    )
    write_attempts: int = Field(
        20, ge=1, description="Attempts of a write that conflicts with concurrent writes."
    )
    max_notes: int = Field(
        1_000, ge=1, description="Maximum number of notes of a node or relationship."
    )
    undo_days: float = Field(
        30.0,
        ge=0,
        le=36_500,
        description=("Days for which a deletion or a merge can be undone; 0 disables undo."),
    )
    query_timeout: float = Field(
        30.0, gt=0, description="Timeout of a search on the server, in seconds."
    )

    max_reads: int = Field(
        16,
        ge=1,
        le=100,
        description=(
            "Maximum number of concurrent searches and read-only tool calls, of all users of a "
            "graph."
        ),
    )
    max_reads_per_user: int = Field(
        8,
        ge=1,
        le=100,
        description="Maximum number of concurrent searches and read-only tool calls of one user.",
    )
    longest_wait: float = Field(
        30.0,
        gt=0,
        description=(
            "Seconds that a search or a read-only tool call may wait; it fails at once if longer "
            "is expected."
        ),
    )

    otel: bool = Field(
        False, description="Whether the command line creates OpenTelemetry spans and metrics."
    )

    home: Path | None = Field(None, description="Directory of the local Neo4j's data.")
    cache: Path | None = Field(None, description="Directory of downloaded files.")
    local_neo4j_version: str = Field(
        "2026.08.1", description="Version of the local Neo4j: 2026.08.1 or 5.26.30."
    )
    local_port: int = Field(
        0, ge=0, le=65535, description="Bolt port of the local Neo4j; 0 uses a free port."
    )

    def __repr_args__(self) -> Iterator[tuple[str | None, object]]:
        """The settings; addresses without the passwords that they may contain."""
        for name, value in super().__repr_args__():
            yield (
                name,
                without_credentials(value)
                if name in _ADDRESSES and isinstance(value, str)
                else value,
            )

    @field_validator("*", mode="before")
    @classmethod
    def _empty_is_not_set(cls, given: object, info: ValidationInfo) -> object:
        """An empty variable leaves a setting without a default unset; others must not be empty."""
        field = cls.model_fields[info.field_name or ""]
        return None if given == "" and field.default is None else given

    @field_validator("toolsets", mode="before")
    @classmethod
    def _split(cls, given: object) -> object:
        return [name.strip() for name in given.split(",")] if isinstance(given, str) else given


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """Return the settings of this process, read once.

    Raises:
        ConfigurationError: a value is invalid.
    """
    return load_settings()


def load_settings() -> Settings:
    """Read the settings again.

    Raises:
        ConfigurationError: a value is invalid.
    """
    return Settings()


def _explained(error: ValidationError) -> str:
    """What is wrong with which environment variable; values are not repeated, as some are
    secret.
    """
    errors = error.errors(include_url=False)
    # Words to choose from are no secrets.
    wrong = {item["loc"][:1]: item for item in errors if item["type"] == "literal_error"}
    details = [
        InitErrorDetails(
            type=item["type"],
            loc=(_variable(item["loc"]).lower(),),
            input=None,
            ctx=item.get("ctx", {}),
        )
        for item in errors
        # A list without valid items is also reported as too short.
        if item["type"] == "literal_error" or item["loc"][:1] not in wrong
    ]
    named = ValidationError.from_exception_data("Settings", details)
    text = explain_validation_error(named, noun="setting", show_values=False)
    shown = re.sub(r"\b(?:kgagent|neo4j|openai)_\w+", lambda match: match[0].upper(), text)
    hints = (
        did_you_mean(str(item["input"]), re.findall(r"'(\w+)'", item["ctx"]["expected"]))
        for item in wrong.values()
    )
    return ". ".join(filter(None, (shown, *dict.fromkeys(hints))))


def _variable(location: tuple[int | str, ...]) -> str:
    """The environment variable of a setting, without positions in a list."""
    name = ".".join(part for part in location if isinstance(part, str)).upper()
    return (
        name
        if name.startswith(("NEO4J_", "OPENAI_"))
        else f"KGAGENT_{name.removeprefix('KGAGENT_')}"
    )
