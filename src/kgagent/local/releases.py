"""What differs between the lines of Neo4j releases."""

from dataclasses import dataclass

from kgagent.errors import ConfigurationError


@dataclass(frozen=True, kw_only=True)
class Release:
    """One Neo4j release.

    Attributes:
        version: as "2026.08.1".
        main_class: Java class that runs the server.
        oldest_java: lowest major version of Java that it runs on.
        settings: lines of `neo4j.conf` that only this line of releases knows.
    """

    version: str
    main_class: str
    oldest_java: int
    settings: tuple[tuple[str, str], ...]

    @property
    def major(self) -> str:
        """First number of the version; data of one major version is kept apart from that of another."""
        return self.version.split(".", maxsplit=1)[0]

    @property
    def lock_name(self) -> str:
        """Name of the lock file of its jars."""
        return f"neo4j-{self.version}"


def find_release(version: str) -> Release:
    """The release of that version.

    Raises:
        ConfigurationError: not a version of a line that can be run here.
    """
    numbers = version_key(version)
    if numbers[0] >= 2025:  # noqa: PLR2004 - the year that calendar versions began
        return Release(
            version=version,
            main_class="org.neo4j.server.Neo4jCommunity",
            oldest_java=21,
            settings=(
                ("dbms.fleet_manager.enabled", "false"),
                ("internal.dbms.bolt.netty_server_shutdown_quiet_period_duration", "0s"),
            ),
        )
    if numbers[0] == 5:  # noqa: PLR2004 - the line before
        return Release(
            version=version,
            main_class="org.neo4j.server.CommunityEntryPoint",
            oldest_java=17,
            settings=(("internal.dbms.bolt.netty_server_shutdown_quiet_period", "0"),),
        )
    raise ConfigurationError(f"Neo4j {version} cannot be run here: use a 2026 or a 5.26 release")


def version_key(version: str) -> tuple[int, ...]:
    """The numbers of a version, for comparing.

    Raises:
        ConfigurationError: not numbers with points between them.
    """
    try:
        return tuple(int(part) for part in version.split("."))
    except ValueError:
        raise ConfigurationError(f"Not a Neo4j version: {version!r}; one looks like 2026.08.1") from None
