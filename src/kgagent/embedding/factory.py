"""The embedder that the settings ask for."""

from kgagent.embedding import local
from kgagent.embedding.base import Embedder
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.embedding.local import LocalEmbedder, missing_packages
from kgagent.embedding.openai import OpenAIEmbedder
from kgagent.embedding.wrapping import WrappingEmbedder
from kgagent.errors import ConfigurationError
from kgagent.extras import install_command
from kgagent.progress import Progress
from kgagent.settings import Settings

OPENAI_MODEL = Settings.model_fields["embedding_model"].default
OPENAI_DIMENSIONS = Settings.model_fields["embedding_dimensions"].default


def make_embedder(settings: Settings, *, progress: Progress | None = None) -> Embedder:
    """Make the embedder that the settings ask for; `str()` of it says which one it is.

    Args:
        settings: `embedder` picks it; "auto" is OpenAI where a key is set, else the local model.
        progress: shows the download of the local model.

    Raises:
        ConfigurationError: OpenAI without a key, or the local model without its packages.
    """
    match settings.embedder:
        case "auto":
            return _openai(settings) if _key(settings) else _local(settings, progress)
        case "openai":
            return _openai(settings)
        case "local":
            return _local(settings, progress)
        case "hashing":
            return HashingEmbedder()


def embeds_locally(settings: Settings) -> bool:
    """Whether the settings ask for the local model."""
    return settings.embedder == "local" or (settings.embedder == "auto" and not _key(settings))


def choice_of_length(dimensions: int, chosen: Embedder) -> str:
    """Say how to choose the embedder that a graph was made with, of which only the length is known.

    Args:
        dimensions: length of the graph's embeddings.
        chosen: the embedder that makes another length.
    """
    chosen = chosen.wrapped if isinstance(chosen, WrappingEmbedder) else chosen
    of_settings = chosen.provider in {OpenAIEmbedder.provider, LocalEmbedder.provider, HashingEmbedder.provider}
    if of_settings and dimensions == local.DIMENSIONS:
        why = " (while it is auto, OPENAI_API_KEY chooses OpenAI)" if chosen.provider == OpenAIEmbedder.provider else ""
        return f"set KGAGENT_EMBEDDER=local, whose embeddings have length {dimensions}{why}"
    if of_settings and dimensions == OPENAI_DIMENSIONS:
        return f"set KGAGENT_EMBEDDER=openai and OPENAI_API_KEY: {OPENAI_MODEL} makes embeddings of length {dimensions}"
    return "choose the embedder that the graph was made with"


def _openai(settings: Settings) -> Embedder:
    key = _key(settings)
    if not key:
        raise ConfigurationError(
            "KGAGENT_EMBEDDER is openai but OPENAI_API_KEY is not set; set the key, or KGAGENT_EMBEDDER=local"
        )
    return OpenAIEmbedder(
        api_key=key,
        base_url=settings.openai_base_url,
        model=settings.embedding_model,
        dimensions=settings.embedding_dimensions,
        timeout=settings.embedding_timeout,
        attempts=settings.embedding_attempts,
    )


def _local(settings: Settings, progress: Progress | None) -> Embedder:
    absent = missing_packages()
    if absent:
        raise ConfigurationError(
            f"The local model needs {', '.join(absent)} and OpenAI needs a key; set OPENAI_API_KEY, or "
            f"{install_command('local')}"
        )
    return LocalEmbedder(cache=settings.cache, progress=progress)


def _key(settings: Settings) -> str:
    return settings.openai_api_key.get_secret_value().strip() if settings.openai_api_key else ""
