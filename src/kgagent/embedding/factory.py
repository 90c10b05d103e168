"""Creates the embedder that the settings choose."""

from kgagent.embedding.base import Embedder
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.embedding.local import LocalEmbedder, missing_packages
from kgagent.embedding.local_models import BGE_SMALL
from kgagent.embedding.openai import OpenAIEmbedder
from kgagent.embedding.wrapper import PrefixedEmbedder, WrapperEmbedder
from kgagent.errors import ConfigurationError
from kgagent.extras import install_command
from kgagent.progress import Progress
from kgagent.settings import Settings

OPENAI_MODEL = Settings.model_fields["embedding_model"].default
OPENAI_DIMENSIONS = Settings.model_fields["embedding_dimensions"].default


def make_embedder(settings: Settings, *, progress: Progress | None = None) -> Embedder:
    """Create the embedder that the settings choose; its `str()` names provider, model and
    dimensions.

    Args:
        settings: `embedder` chooses the provider; "auto" chooses OpenAI if a key is set, else the
            local model.
        progress: reports the download of the local model.

    Raises:
        ConfigurationError: OpenAI is chosen without a key, or the local model without its packages
            or files.
    """
    embedder = _embedder(settings, progress)
    if not settings.query_prefix and not settings.passage_prefix:
        return embedder
    return PrefixedEmbedder(
        embedder, query_prefix=settings.query_prefix, passage_prefix=settings.passage_prefix
    )


def _embedder(settings: Settings, progress: Progress | None) -> Embedder:
    match settings.embedder:
        case "auto":
            return _openai(settings) if _key(settings) else _local(settings, progress)
        case "openai":
            return _openai(settings)
        case "local":
            return _local(settings, progress)
        case "hashing":
            return HashingEmbedder()


def advise_embedder(dimensions: int, current: Embedder) -> str:
    """Describe the settings that choose an embedder for a graph whose embeddings have another
    length.

    Args:
        dimensions: length of the graph's embeddings.
        current: the embedder in use, which makes embeddings of another length.
    """
    current = current.wrapped if isinstance(current, WrapperEmbedder) else current
    from_settings = current.provider in {
        OpenAIEmbedder.provider,
        LocalEmbedder.provider,
        HashingEmbedder.provider,
    }
    if from_settings and dimensions == BGE_SMALL.dimensions:
        why = (
            " (with auto, OPENAI_API_KEY chooses OpenAI)"
            if current.provider == OpenAIEmbedder.provider
            else ""
        )
        return f"set KGAGENT_EMBEDDER=local for embeddings of length {dimensions}{why}"
    if from_settings and dimensions == OPENAI_DIMENSIONS:
        return (
            f"set KGAGENT_EMBEDDER=openai and OPENAI_API_KEY for embeddings of length {dimensions} "
            f"({OPENAI_MODEL})"
        )
    return "choose the embedder that the graph was created with"


def _openai(settings: Settings) -> Embedder:
    key = _key(settings)
    if not key:
        raise ConfigurationError(
            "KGAGENT_EMBEDDER is openai but OPENAI_API_KEY is not set; set the key, or "
            "KGAGENT_EMBEDDER=local"
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
            f"The local model needs {', '.join(absent)} and OpenAI needs a key; set "
            f"OPENAI_API_KEY, or "
            f"{install_command('local')}"
        )
    return LocalEmbedder(model=settings.local_model, cache=settings.cache, progress=progress)


def _key(settings: Settings) -> str:
    return settings.openai_api_key.get_secret_value().strip() if settings.openai_api_key else ""
