"""Opening a connection to Neo4j, and reading what its server supports."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from neo4j import AsyncDriver, AsyncGraphDatabase, Auth, Query, RoutingControl
from neo4j import exceptions as neo4j_errors
from neo4j.auth_management import AsyncAuthManager

from kgagent.errors import ConfigurationError, InputError, StoreError
from kgagent.graph.driver_errors import translated
from kgagent.graph.features import ServerFeatures
from kgagent.graph.statements import Statement
from kgagent.graph.store import Store
from kgagent.observing import statement_tags

SCHEMES = frozenset({"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"})

DRIVER_OPTIONS: Mapping[str, Any] = {
    "notifications_min_severity": "OFF",
    "user_agent": "kgagent",
    "connection_timeout": 4.0,
    "connection_acquisition_timeout": 20.0,
    "max_connection_pool_size": 100,
}
"""Options of the driver that differ from its defaults; with these, connecting to a server that is
gone fails soon.
"""

VERSIONS = Statement(
    "CALL dbms.components() YIELD name, versions RETURN name, versions", "versions"
)

Credentials = Auth | tuple[str, str] | AsyncAuthManager
"""What the driver accepts as `auth`."""


async def connect(
    uri: str,
    *,
    username: str = "neo4j",
    password: str | None = None,
    auth: Credentials | None = None,
    database: str | None = None,
    timeout: float | None = None,
    driver_options: Mapping[str, Any] | None = None,
) -> Store:
    """Connect, and determine what the server supports.

    Args:
        uri: bolt:// or neo4j:// address, with +s for TLS.
        username: name to log in with.
        password: None if the server needs none.
        auth: credentials or an authentication manager of the driver, instead of `username` and
            `password`.
        database: None is the user's home database.
        timeout: maximum time of a statement on the server, in seconds; None is the server's own
            limit.
        driver_options: further settings of the driver, such as `max_connection_pool_size`.

    Raises:
        ConfigurationError: the driver does not accept its options.
        StoreError: the address is wrong, the server cannot be reached, refuses the login, or is too
            old.
    """
    shown = _address(uri)
    if auth is None and password is not None:
        auth = (username, password)
    options = {**DRIVER_OPTIONS, **(driver_options or {})}
    try:
        driver = AsyncGraphDatabase.driver(uri, auth=auth, **options)
    except (neo4j_errors.ConfigurationError, TypeError, ValueError) as error:
        if query := urlsplit(uri).query:
            # The driver repeats the address with its query, in which a password may stand.
            problem = str(error).replace(uri, shown).replace(query, "…")
            raise ConfigurationError(f"The Neo4j driver cannot be set up: {problem}") from None
        raise ConfigurationError(f"The Neo4j driver cannot be set up: {error}") from error
    try:
        features = await _features(driver, shown, database)
    except BaseException:
        await driver.close()
        raise
    connections = options["max_connection_pool_size"]
    return Store(
        driver, features, uri=shown, database=database, timeout=timeout, connections=connections
    )


async def use_driver(
    driver: AsyncDriver, *, database: str | None = None, timeout: float | None = None
) -> Store:
    """Use an open driver, which `Store.close` leaves open.

    Args:
        driver: an open driver.
        database: None is the user's home database.
        timeout: maximum time of a statement on the server, in seconds; None is the server's own
            limit.

    Raises:
        StoreError: the server cannot be reached, refuses the login, or is too old.
    """
    if not isinstance(driver, AsyncDriver):
        raise InputError(f"driver must be a neo4j.AsyncDriver, got {type(driver).__name__}")
    with _translated_errors("the given driver's address"):
        info = await driver.get_server_info()
    host, port = info.address[:2]
    address = f"[{host}]" if ":" in str(host) else host
    shown = f"{'bolt+s' if driver.encrypted else 'bolt'}://{address}:{port}"
    features = await _features(driver, shown, database)
    return Store(driver, features, uri=shown, database=database, timeout=timeout, owns_driver=False)


async def _features(driver: AsyncDriver, uri: str, database: str | None) -> ServerFeatures:
    with _translated_errors(uri):
        info = await driver.get_server_info()
        query = Query(VERSIONS, metadata=statement_tags(VERSIONS.name))
        answer = await driver.execute_query(query, database_=database, routing_=RoutingControl.READ)
    versions = {str(record["name"]): list(record["versions"]) for record in answer.records}
    return ServerFeatures.detect(
        versions.get("Neo4j Kernel", ["5.26"])[0],
        versions.get("Cypher", ["5"]),
        info.protocol_version,
    )


@contextmanager
def _translated_errors(uri: str) -> Iterator[None]:
    try:
        yield
    except (neo4j_errors.Neo4jError, neo4j_errors.DriverError) as error:
        raise translated(error, uri) from error


def _address(uri: str) -> str:
    """Check an address and return it without its path and query.

    Raises:
        StoreError: the address is invalid, or contains a name or a password, which the error does
            not repeat.
    """
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        parts = None
    if parts is None or parts.scheme not in SCHEMES or not parts.hostname or "@" in uri:
        shown = "The address" if set(uri) & set("@?#") else repr(uri)
        raise StoreError(
            f"{shown} is not the address of a Neo4j server. Use an address such as "
            f"bolt://host:7687 or neo4j+s://host, "
            "and set NEO4J_USERNAME and NEO4J_PASSWORD separately"
        )
    return f"{parts.scheme}://{parts.netloc}"
