"""Descriptions of functions, within the length that APIs accept."""

from kgagent.adapters.json_schema import Schema

MAX_DESCRIPTION_LENGTH = 1_024
"""Characters of a function's description that OpenAI's API accepts."""


def split_description(description: str) -> tuple[str, str]:
    """Split a description after a sentence or clause: what fits a function's description, and the rest."""
    if len(description) <= MAX_DESCRIPTION_LENGTH:
        return description, ""
    kept = description[:MAX_DESCRIPTION_LENGTH]
    end = max(kept.rfind(mark) + len(mark) if mark in kept else 0 for mark in (". ", "; ")) or MAX_DESCRIPTION_LENGTH
    return description[:end].rstrip(), description[end:].lstrip()


def described_schema(description: str, parameters: Schema) -> tuple[str, Schema]:
    """Return the description that fits, and the parameters; their schema's description holds the rest."""
    kept, rest = split_description(description)
    return kept, {**parameters, "description": rest} if rest else parameters
