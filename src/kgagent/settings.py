"""Settings from the environment and from a `.env` file in the working folder."""

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from kgagent.errors import ConfigurationError

EmbedderName = Literal["auto", "openai", "local", "hashing"]
LogFormat = Literal["plain", "json"]
IndexQuantization = Literal["none", "scalar", "binary"]
PathRanking = Literal["PATH_LENGTH", "EDGE_WEIGHT", "NODE_CENTRALITY", "SEMANTIC_SCORE", "HYBRID"]


def _env(name: str) -> AliasChoices:
    return AliasChoices(name, name.lower())


class Settings(BaseSettings):
    """All that can be set from outside. Secrets never show in `repr` or `str`."""

    model_config = SettingsConfigDict(
        env_prefix="KGAGENT_", env_file=".env", extra="ignore", populate_by_name=True, frozen=True
    )

    neo4j_uri: str | None = Field(
        None, validation_alias=_env("NEO4J_URI"), description="Address of the server; left out, a local one is started."
    )
    neo4j_username: str = Field("neo4j", validation_alias=_env("NEO4J_USERNAME"), description="Name to log in with.")
    neo4j_password: SecretStr | None = Field(
        None, validation_alias=_env("NEO4J_PASSWORD"), description="Password to log in with."
    )
    neo4j_database: str | None = Field(
        None, validation_alias=_env("NEO4J_DATABASE"), description="Database; left out, the user's home database."
    )

    openai_api_key: SecretStr | None = Field(
        None, validation_alias=_env("OPENAI_API_KEY"), description="Key for OpenAI's embeddings."
    )
    openai_base_url: str | None = Field(
        None, validation_alias=_env("OPENAI_BASE_URL"), description="A server that speaks OpenAI's protocol."
    )

    user_id: str = Field("me", min_length=1, description="Whose graph the command line reads and writes.")
    ontology: Path | None = Field(None, description="YAML file of labels, relationship kinds and words.")

    embedder: EmbedderName = Field("auto", description="auto: OpenAI where a key is set, else the local model.")
    embedding_model: str = Field("text-embedding-3-small", description="OpenAI's name of the model.")
    embedding_dimensions: int = Field(1536, ge=1, le=4096, description="Length of that model's embeddings.")
    embedding_timeout: float = Field(30.0, gt=0, description="Seconds for one request.")
    embedding_attempts: int = Field(5, ge=1, description="Tries of one request, the first included.")
    query_cache_size: int = Field(512, ge=0, description="Query embeddings kept in memory.")

    exact_scan_limit: int | None = Field(
        None,
        ge=0,
        description=(
            "Up to this many relationships (or nodes of a label) of a user are compared one by one; "
            "left out, 100 where an index filters by user inside itself, and 2,000 on older servers."
        ),
    )
    oversampling: int = Field(
        20, ge=1, description="Candidates that a vector index compares, as a multiple of the hits wanted."
    )
    index_quantization: IndexQuantization = Field(
        "none",
        description="How a vector index shortens the vectors that it compares: none finds most, binary is smallest.",
    )
    index_m: int = Field(32, ge=1, le=512, description="Neighbours of each vector in a vector index's graph (HNSW).")
    index_ef_construction: int = Field(
        200, ge=1, le=3_200, description="Candidates among which those are chosen; with more, indexing takes longer."
    )
    index_search_expansion: float = Field(
        20.0, ge=1, le=10_000, description="Candidates that a vector index compares for each hit that it gives."
    )
    hybrid_limit: int = Field(32, ge=1, le=100, description="Items of a hybrid search at the most, unless it says.")
    patterns_enabled: bool = Field(True, description="Whether graph patterns may be asked for.")
    patterns_max_paths: int = Field(100, ge=1, le=10_000, description="Paths of a query at the most.")
    patterns_ranking: PathRanking = Field("HYBRID", description="How paths are ranked.")
    patterns_strict: bool = Field(False, description="Whether finding no path is an error, instead of a plain search.")
    patterns_use_all_relation_hints: bool = Field(
        True, description="Whether a walk from targets follows all the types that it is given, or the first only."
    )
    patterns_explored: int = Field(
        5_000, ge=1, le=1_000_000, description="Paths that one statement looks at before the best are told."
    )
    patterns_timeout: float = Field(10.0, gt=0, description="Seconds that the server gives to one pattern.")
    write_attempts: int = Field(20, ge=1, description="Tries of a write that loses races against other writers.")
    undo_days: float = Field(
        30.0,
        ge=0,
        le=36_500,
        description="Days in which a deleted relationship can be restored; 0 keeps none.",
    )
    query_timeout: float = Field(30.0, gt=0, description="Seconds that a search may take on the server.")

    otel: bool = Field(False, description="Whether the command line makes OpenTelemetry spans and metrics.")
    log_format: LogFormat = Field("plain", description="json: the command line logs each tool call, as JSON on stderr.")

    home: Path | None = Field(None, description="Folder of the local Neo4j's data.")
    cache: Path | None = Field(None, description="Folder of downloaded files.")
    local_neo4j_version: str = Field("2026.08.1", description="2026.08.1 or a 5.26 release that has a lock file.")
    local_port: int = Field(0, ge=0, le=65535, description="Bolt port of the local Neo4j; 0 takes a free one.")


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """Read the settings once for this process.

    Raises:
        ConfigurationError: a value is not one that the setting may have.
    """
    return load_settings()


def load_settings() -> Settings:
    """Read the settings anew.

    Raises:
        ConfigurationError: a value is not one that the setting may have; secrets are not repeated in the text.
    """
    try:
        return Settings()
    except ValidationError as error:
        wrong = "; ".join(f"{_variable(e['loc'])}: {e['msg']}" for e in error.errors(include_input=False))
        raise ConfigurationError(f"Settings cannot be used: {wrong}") from None


def _variable(location: tuple[int | str, ...]) -> str:
    """The environment variable of a setting."""
    name = ".".join(map(str, location)).upper()
    return name if name.startswith(("NEO4J_", "OPENAI_")) else f"KGAGENT_{name.removeprefix('KGAGENT_')}"
