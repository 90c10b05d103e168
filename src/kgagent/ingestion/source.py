"""What is ingested: a conversation with turns, or a text."""

import hashlib
import json
from datetime import datetime
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from kgagent.models.request import RequestModel

Filled = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Turn(RequestModel):
    """What one speaker said.

    Attributes:
        speaker: who.
        text: what.
        at: when, if it is known.
    """

    speaker: Annotated[Filled, Field(max_length=200)]
    text: Filled
    at: datetime | None = None

    def __str__(self) -> str:
        """As a line for a model to read."""
        moment = f" ({self.at.isoformat(timespec='minutes')})" if self.at else ""
        return f"{self.speaker}{moment}: {self.text}"


class Source(RequestModel):
    """A conversation (`turns`) or a document (`text`).

    Under an `id` it stays the same source however its text changes: a text that grew or was corrected is a newer
    version of it. Without one, what it says makes it the same source or another one; name, description and date
    never do.

    Attributes:
        id: by which the caller knows it, such as an address or a number; empty for none.
        name: title under which it is kept.
        description: what it is, in a sentence; empty takes one that is made of its turns or its length.
        turns: what was said, in order.
        text: what was written; paragraphs are parted by empty lines.
        date: when it was said or written, for "yesterday" to be understood.
    """

    id: Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000)] = ""
    name: Annotated[Filled, Field(max_length=500)]
    description: Annotated[str, StringConstraints(strip_whitespace=True, max_length=20_000)] = ""
    turns: tuple[Turn, ...] = ()
    text: Annotated[str, StringConstraints(strip_whitespace=True)] = ""
    date: datetime | None = None

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if bool(self.turns) == bool(self.text):
            raise ValueError(f"a source has turns or a text, got {'both' if self.turns else 'neither'}")
        return self

    @property
    def fingerprint(self) -> str:
        """SHA-256 of what it says; line ends do not count."""
        said = [(turn.speaker, turn.text, turn.at and turn.at.isoformat()) for turn in self.turns] or self.text
        text = json.dumps(said, ensure_ascii=False).replace(r"\r\n", r"\n")
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()

    @property
    def told(self) -> str:
        """The description, or one that is made of what it is."""
        if self.description:
            return self.description
        if self.turns:
            speakers = list(dict.fromkeys(turn.speaker for turn in self.turns))
            more = f" and {len(speakers) - 5} others" if len(speakers) > 5 else ""  # noqa: PLR2004
            return f"Conversation of {', '.join(speakers[:5])}{more}."
        return f"Text of {len(self.text.split()):,} words."
