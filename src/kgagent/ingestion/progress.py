"""How far a source has been read."""

from typing import Annotated, Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

PartState = Literal["unread", "read", "given_up", "refused"]


class IngestionProgress(BaseModel):
    """How far a source has been read; stored on its node as JSON so that another run can resume.

    Attributes:
        part_tokens: maximum part size with which the source was split; a later run uses the same size.
        parts: state of each part.
        refusals: why parts were refused, by position.
        fingerprint: fingerprint of the version that is read; empty in progress of earlier releases.
        identity: hash of the caller's id of the source; empty if it has none.
        part_fingerprints: fingerprint of each part; empty in progress of earlier releases.
    """

    model_config = ConfigDict(frozen=True)

    part_tokens: int
    parts: tuple[PartState, ...]
    refusals: dict[int, str] = {}
    fingerprint: str = ""
    identity: str = ""
    part_fingerprints: Annotated[
        tuple[str, ...], Field(validation_alias=AliasChoices("part_fingerprints", "texts"))
    ] = ()

    @property
    def is_complete(self) -> bool:
        """Whether every part is read."""
        return all(state == "read" for state in self.parts)

    @property
    def is_finished(self) -> bool:
        """Whether every part is either read or refused."""
        return all(state in {"read", "refused"} for state in self.parts)

    @property
    def parts_read(self) -> int:
        """Number of parts that are read."""
        return self.parts.count("read")

    @classmethod
    def parse(cls, stored: object) -> Self | None:
        """Parse what is stored. None if it is invalid; the source is then read from its beginning."""
        try:
            return cls.model_validate_json(stored) if isinstance(stored, str) else None
        except ValidationError:
            return None

    def with_part(self, position: int, state: PartState, refusal: str = "") -> Self:
        """Return the progress with a new state of one part."""
        parts = (*self.parts[:position], state, *self.parts[position + 1 :])
        refusals = {**self.refusals, position: refusal} if refusal else self.refusals
        return self.model_copy(update={"parts": parts, "refusals": refusals})

    def with_states_of(self, earlier: "IngestionProgress") -> Self:
        """Return the progress in which parts keep the state of parts with the same text in an earlier version."""
        finished = {
            fingerprint: (state, earlier.refusals.get(position, ""))
            for position, (fingerprint, state) in enumerate(zip(earlier.part_fingerprints, earlier.parts, strict=False))
            if state in {"read", "refused"}
        }
        progress = self
        for position, fingerprint in enumerate(self.part_fingerprints):
            if fingerprint in finished:
                progress = progress.with_part(position, *finished[fingerprint])
        return progress
