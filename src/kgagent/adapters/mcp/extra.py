"""What the `mcp` extra brings."""

from collections.abc import Iterator
from contextlib import contextmanager

from kgagent.errors import ConfigurationError


@contextmanager
def mcp_extra() -> Iterator[None]:
    """Turn a missing package into advice; wraps the imports of what the `mcp` extra brings.

    Raises:
        ConfigurationError: a package of the extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f'The MCP server needs the package {error.name}: pip install "kgagent[mcp]"'
        ) from error
