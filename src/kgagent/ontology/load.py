"""Reading an ontology from YAML."""

from functools import lru_cache
from importlib import resources
from pathlib import Path

import yaml
from pydantic import ValidationError

from kgagent.errors import ConfigurationError
from kgagent.ontology.model import Ontology


@lru_cache(maxsize=1)
def default_ontology() -> Ontology:
    """The ontology that ships with the package."""
    return _parse(resources.files(__package__).joinpath("default.yaml").read_text("utf-8"), "default ontology")


def load_ontology(path: Path) -> Ontology:
    """Read and check a user's ontology.

    Raises:
        ConfigurationError: the file cannot be read, is not YAML, or does not describe an ontology.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"Ontology {path} cannot be read: {error}") from error
    return _parse(text, str(path))


def _parse(text: str, origin: str) -> Ontology:
    try:
        described = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as error:
        raise ConfigurationError(f"{origin} is not valid YAML: {' '.join(str(error).split())}") from error
    try:
        return Ontology.model_validate(described)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors())
        raise ConfigurationError(f"{origin} is not an ontology: {wrong}") from error
