"""Reading the notes of old graphs, which have several forms."""

import json

from pydantic import ValidationError

from kgagent.models.note import Note


def parse_old_notes(stored: object) -> tuple[Note, ...]:
    """Read notes that are not a JSON list of valid notes.

    Old graphs store plain texts, lists of texts, and notes without author or date. Each text
    becomes the content of a note, so that nothing is lost.
    """
    return tuple(note for item in _decoded(stored) for note in _note(item))


def _decoded(stored: object) -> list[object]:
    if isinstance(stored, str):
        try:
            decoded = json.loads(stored)
        except (ValueError, RecursionError):
            return [stored]
        if isinstance(decoded, str | dict | None):
            return [decoded]
        return decoded if isinstance(decoded, list) else [stored]
    return list(stored) if isinstance(stored, list | tuple) else [stored]


def _note(item: object) -> tuple[Note, ...]:
    if isinstance(item, str) and item.lstrip().startswith(("{", "[")):
        return parse_old_notes(item) if _is_json(item) else (Note(content=item),)
    if isinstance(item, dict):
        return (_from_fields(item),)
    return () if item is None else (Note(content=str(item)),)


def _from_fields(fields: dict[str, object]) -> Note:
    """Read a note; invalid fields are kept under another name, so that no write loses them."""
    try:
        return Note.model_validate(fields)
    except ValidationError as error:
        wrong = {item["loc"][0] for item in error.errors(include_url=False)}
    if "content" in wrong:
        return Note(content=json.dumps(fields, ensure_ascii=False, default=str))
    return Note.model_validate(
        {f"{key}_as_found" if key in wrong else key: value for key, value in fields.items()}
    )


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
