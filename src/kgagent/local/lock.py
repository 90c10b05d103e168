"""Lock files: sets of files of Maven Central, with their checksums."""

import re
from functools import lru_cache
from importlib import resources
from pathlib import PurePosixPath

from pydantic import BaseModel, ConfigDict, Field, field_validator

from kgagent.errors import ConfigurationError


class LockedFile(BaseModel):
    """One jar. The coordinate is `group:artifact:version` or
    `group:artifact:version:classifier`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    coordinate: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = Field(gt=0, description="bytes")

    @field_validator("coordinate")
    @classmethod
    def _has_plain_parts(cls, value: str) -> str:
        parts = value.split(":")
        if len(parts) not in {3, 4} or any(
            not re.fullmatch(r"[^./\\][^/\\]*", part) for part in parts
        ):
            raise ValueError(f"not group:artifact:version[:classifier] of plain names: {value!r}")
        return value

    @property
    def parts(self) -> tuple[str, str, str, str]:
        """Group, artifact, version and classifier ("" for none)."""
        group, artifact, version, *rest = self.coordinate.split(":")
        return group, artifact, version, rest[0] if rest else ""

    @property
    def path(self) -> PurePosixPath:
        """Path of the jar in a Maven repository, relative to its root."""
        group, artifact, version, classifier = self.parts
        name = "-".join(filter(None, (artifact, version, classifier)))
        return PurePosixPath(*group.split("."), artifact, version, f"{name}.jar")


class Lock(BaseModel):
    """The jars of one program or model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    roots: tuple[str, ...] = Field(
        min_length=1, description="coordinates whose dependencies were resolved"
    )
    excluded: tuple[str, ...] = Field(
        (), description="patterns group:artifact of dependencies that are not needed"
    )
    files: tuple[LockedFile, ...] = Field(min_length=1)

    def render(self) -> str:
        """The text of the lock file, one line per file, so that diffs are readable."""
        rows = ",\n".join(f"    {file.model_dump_json()}" for file in self.files)
        head = self.model_dump_json(include={"roots", "excluded"}, indent=2).removesuffix("\n}")
        return f'{head},\n  "files": [\n{rows}\n  ]\n}}\n'


def lock_names() -> list[str]:
    """Names of all lock files in the package."""
    entries = (entry.name for entry in resources.files("kgagent.local").joinpath("locks").iterdir())
    return sorted(name.removesuffix(".json") for name in entries if name.endswith(".json"))


@lru_cache(maxsize=8)
def load_lock(name: str) -> Lock:
    """Read a lock file of the package.

    Raises:
        ConfigurationError: no lock has that name.
    """
    if name not in lock_names():
        raise ConfigurationError(f"No lock file for {name!r}; available: {', '.join(lock_names())}")
    text = (
        resources.files("kgagent.local")
        .joinpath("locks", f"{name}.json")
        .read_text(encoding="utf-8")
    )
    return Lock.model_validate_json(text)
