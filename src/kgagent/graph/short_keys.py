"""Short forms of entity keys: their first characters, as many as tell them apart."""

from collections.abc import Collection

from kgagent.graph.reference_forms import is_generated_key, is_key_prefix

MESSAGE_LENGTH = 12


def shortest_unique(key: str, others: Collection[str], length: int) -> str:
    """The shortest beginning of a key that no other key has and that is recognised as the beginning of a key.

    Args:
        key: the key.
        others: the other keys that begin with its first `length` characters.
        length: minimum number of characters.
    """
    beginnings = (key[:end] for end in range(length, len(key)))
    return next((text for text in beginnings if is_key_prefix(text) and not _begins_any(text, others)), key)


def message_key(key: str) -> str:
    """A key for a message that is written without asking the database: the first characters of a generated key.

    Two of 100,000 nodes begin alike with a probability of 1 in 3,000; the reference is then an error, never another
    node.
    """
    return key[:MESSAGE_LENGTH] if is_generated_key(key) else key


def _begins_any(text: str, keys: Collection[str]) -> bool:
    return any(key.startswith(text) for key in keys)
