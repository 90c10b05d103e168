"""What is ingested: a conversation with turns, or a text."""

import hashlib
import unicodedata
from datetime import datetime
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from kgagent.formatting import beginning, counted, encodable
from kgagent.graph.sources import key_of_id
from kgagent.models.request import RequestModel

MAX_SUMMARY_LENGTH = 200


def _plain(text: object) -> object:
    """A text in the form in which texts are compared, stored and sent: programs write one letter,
    and the end of a line, in several ways.
    """
    if not isinstance(text, str):
        return text
    return unicodedata.normalize("NFC", encodable(text)).replace("\r\n", "\n")


Text = Annotated[str, BeforeValidator(_plain), StringConstraints(strip_whitespace=True)]
FilledText = Annotated[Text, Field(min_length=1)]


class Turn(RequestModel):
    """One turn of a conversation.

    Attributes:
        speaker: name of the speaker.
        text: what was said.
        at: when it was said, if known.
    """

    speaker: Annotated[FilledText, Field(max_length=200)]
    text: FilledText
    at: datetime | None = None

    def __str__(self) -> str:
        """Format as a paragraph for the model."""
        moment = f" ({self.at.isoformat(timespec='minutes')})" if self.at else ""
        return f"{self.speaker}{moment}: {self.text}"


class Source(RequestModel):
    """A conversation (`turns`) or a document (`text`).

    With an `id`, a source keeps its identity when its text changes: a longer or corrected text is a
    newer version. Without one, the text or turns are the identity; name, description and date never
    are.

    Attributes:
        id: the caller's identifier, such as a URL or a number; empty for none.
        name: title of the source's node.
        description: one sentence about the source; if empty, it is generated from the speakers or
            the length.
        turns: the turns of a conversation, in order.
        text: the text of a document; empty lines separate paragraphs.
        date: when it was said or written, so that the model understands words such as "yesterday".
    """

    id: Annotated[Text, Field(max_length=2_000)] = ""
    name: Annotated[FilledText, Field(max_length=500)]
    description: Annotated[Text, Field(max_length=20_000)] = ""
    turns: tuple[Turn, ...] = ()
    text: Text = ""
    date: datetime | None = None

    @model_validator(mode="after")
    def _has_turns_or_text(self) -> Self:
        if bool(self.turns) == bool(self.text):
            raise ValueError(
                f"a source has either turns or text, got {'both' if self.turns else 'neither'}"
            )
        return self

    @property
    def day(self) -> str | None:
        """The day of the date."""
        return self.date.date().isoformat() if self.date else None

    @property
    def content(self) -> str:
        """The text, or the turns as one text."""
        return self.text or "\n\n".join(map(str, self.turns))

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the content."""
        return hashlib.sha256(self.content.encode()).hexdigest()

    def key(self, user_id: str) -> str:
        """The key of a new source's node: sources of one user with the same id, or else the same
        content, share it. The id itself is not stored.
        """
        if self.id:
            return key_of_id(self.id, user_id)
        return hashlib.sha256(f"source{self.fingerprint}{user_id}".encode()).hexdigest()

    @property
    def summary(self) -> str:
        """The description, or a generated one."""
        if self.description:
            return self.description
        if self.turns:
            speakers = ", ".join(dict.fromkeys(turn.speaker for turn in self.turns))
            return beginning(f"Conversation of {speakers}.", MAX_SUMMARY_LENGTH)
        return f"Text of {counted(len(self.text.split()), 'word')}."
