"""Reads ontologies from YAML files."""

from functools import lru_cache
from importlib import resources
from pathlib import Path

import yaml
from pydantic import ValidationError

from kgagent.errors import ConfigurationError
from kgagent.ontology.model import Ontology


@lru_cache(maxsize=1)
def default_ontology() -> Ontology:
    """The ontology of the package."""
    return _parse(
        resources.files(__package__).joinpath("default.yaml").read_text("utf-8"), "default ontology"
    )


def load_ontology(path: Path) -> Ontology:
    """Read and validate a custom ontology.

    Raises:
        ConfigurationError: the file cannot be read, is not valid YAML, or is not an ontology.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"Ontology {path} cannot be read: {error}") from error
    return _parse(text, str(path))


def dump_ontology(ontology: Ontology) -> str:
    """An ontology as YAML, without what has its default."""
    data = ontology.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    for name, value in ontology:
        if name in data and isinstance(value, frozenset):
            data[name] = sorted(data[name])
    return yaml.safe_dump(
        data, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120
    )


def _parse(text: str, origin: str) -> Ontology:
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as error:
        raise ConfigurationError(
            f"{origin} is not valid YAML: {' '.join(str(error).split())}"
        ) from error
    try:
        return Ontology.model_validate(data)
    except ValidationError as error:
        # Not explain_validation_error: it omits keys of dictionaries, here the labels and types.
        problems = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors()
        )
        raise ConfigurationError(f"{origin} is not an ontology: {problems}") from error
