"""Default folders of downloaded files and of the local Neo4j's data."""

from pathlib import Path

from kgagent.extras import require_extra


def default_cache() -> Path:
    """Default folder of downloaded files."""
    with require_extra("local"):
        from platformdirs import user_cache_path
    return user_cache_path("kgagent", appauthor=False)


def default_home(major: str) -> Path:
    """Default folder of the local Neo4j's data.

    Args:
        major: first number of the Neo4j version, such as "2026" or "5".
    """
    with require_extra("local"):
        from platformdirs import user_data_path
    return user_data_path("kgagent", appauthor=False) / f"neo4j-{major}"
