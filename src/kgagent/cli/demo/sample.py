"""The sample graph and its questions, which are part of the package."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

_FOLDER = resources.files("kgagent").joinpath("samples")


class Question(BaseModel):
    """A question about the sample graph, and the people that a reader would name."""

    model_config = ConfigDict(frozen=True)

    question: str
    expected: frozenset[str]


def questions() -> list[Question]:
    """Read the questions."""
    return TypeAdapter(list[Question]).validate_json(
        _FOLDER.joinpath("questions.json").read_bytes()
    )


@contextmanager
def sample_file() -> Iterator[Path]:
    """Provide the sample graph as a file while the block runs."""
    with resources.as_file(_FOLDER.joinpath("middlemarch.jsonl")) as path:
        yield path
