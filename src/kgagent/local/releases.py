"""The differences between Neo4j release lines."""

import os
from dataclasses import dataclass

from kgagent.errors import ConfigurationError

_MERGE_WORKERS = min(os.cpu_count() or 1, 16)
"""Threads that merge one vector index."""


@dataclass(frozen=True, kw_only=True)
class Release:
    """One Neo4j release.

    Attributes:
        version: such as "2026.08.1".
        main_class: Java class that runs the server.
        oldest_java: minimum major version of Java.
        settings: settings in `neo4j.conf` that only this release line supports.
    """

    version: str
    main_class: str
    oldest_java: int
    settings: tuple[tuple[str, str], ...]

    @property
    def major(self) -> str:
        """First number of the version; each major version has a data folder of its own."""
        return self.version.split(".", maxsplit=1)[0]

    @property
    def lock_name(self) -> str:
        """Name of the lock file that lists its jars."""
        return f"neo4j-{self.version}"

    def opens(self, version: str) -> bool:
        """Whether this release opens data that a release with that version last used: an earlier
        one of its line.
        """
        stored, own = version_key(version), version_key(self.version)
        return stored[0] == own[0] and stored <= own


def find_release(version: str) -> Release:
    """Find the release of a version.

    Raises:
        ConfigurationError: the release line is not supported.
    """
    numbers = version_key(version)
    if numbers[0] >= 2025:  # noqa: PLR2004 - the first year of calendar versions
        return Release(
            version=version,
            main_class="org.neo4j.server.Neo4jCommunity",
            oldest_java=21,
            settings=(
                ("dbms.fleet_manager.enabled", "false"),
                ("internal.dbms.bolt.netty_server_shutdown_quiet_period_duration", "0s"),
                # An index that is built over existing data becomes one HNSW graph, which finds more
                # than many small ones with as many candidates. By default, one quarter of the cores
                # merge them.
                ("internal.dbms.index.vector.post_population_compaction", "FULL"),
                ("internal.dbms.index.vector.intra_merge_workers", f"{_MERGE_WORKERS:d}"),
            ),
        )
    if numbers[0] == 5:  # noqa: PLR2004 - the previous release line
        return Release(
            version=version,
            main_class="org.neo4j.server.CommunityEntryPoint",
            oldest_java=17,
            settings=(("internal.dbms.bolt.netty_server_shutdown_quiet_period", "0"),),
        )
    raise ConfigurationError(f"Neo4j {version} is not supported; use a 2026 or a 5.26 release")


def version_key(version: str) -> tuple[int, ...]:
    """The numbers of a version, for comparison.

    Raises:
        ConfigurationError: the version is not numbers separated by dots.
    """
    try:
        return tuple(int(part) for part in version.split("."))
    except ValueError:
        raise ConfigurationError(
            f"Not a Neo4j version: {version!r}; an example is 2026.08.1"
        ) from None
