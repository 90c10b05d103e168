"""What the `mcp` extra brings."""

from collections.abc import Iterator
from contextlib import contextmanager

from kgagent.errors import ConfigurationError


@contextmanager
def mcp_extra() -> Iterator[None]:
    """Turn a package that is missing or too old into advice; wraps the imports of what the `mcp` extra brings.

    Raises:
        ConfigurationError: a package of the extra is not installed, or is too old.
    """
    try:
        yield
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package == "kgagent":
            raise
        raise ConfigurationError(
            f'The MCP server needs the package {package or "mcp"}, in a version that fits: pip install "kgagent[mcp]"'
        ) from error
