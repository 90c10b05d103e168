"""Optional dependencies: what to install when a package of an extra is missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from kgagent.errors import ConfigurationError

Extra = Literal["documents", "ingest", "local", "mcp", "otel", "ray"]

_FEATURES: dict[Extra, str] = {
    "documents": "Loading HTML and PDF",
    "ingest": "kgagent ingest",
    "local": "The local Neo4j and the local model",
    "mcp": "The MCP server",
    "otel": "OpenTelemetry spans and metrics",
    "ray": "The engine ray",
}
_ALTERNATIVES: dict[Extra, str] = {"local": ", or set NEO4J_URI and OPENAI_API_KEY to use your own"}


@contextmanager
def require_extra(extra: Extra, feature: str | None = None) -> Iterator[None]:
    """Wrap the imports of optional packages: a failing import becomes advice.

    Args:
        extra: what to install.
        feature: what needs the packages; None is what the extra is mainly for.

    Raises:
        ConfigurationError: a package of the extra is not installed, or its version is incompatible.
    """
    try:
        yield
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package == "kgagent":
            raise
        need = f"needs the package {package or extra}"
        if not isinstance(error, ModuleNotFoundError):
            need += f" in another version ({error})"
        advice = f"{install_command(extra)}{_ALTERNATIVES.get(extra, '')}"
        raise ConfigurationError(f"{feature or _FEATURES[extra]} {need}: {advice}") from error


def install_command(*extras: Extra) -> str:
    """The command that adds extras to an installed kgagent.

    pip takes the extras from the metadata of the installed package, whether that came from a clone
    or from a wheel.
    """
    return f'pip install "kgagent[{",".join(extras)}]"'
