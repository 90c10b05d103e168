"""Short forms of entity keys, as answers show them."""

from kgagent.graph.reference_forms import is_generated_key

MESSAGE_LENGTH = 12


def message_key(key: str) -> str:
    """A key as an answer shows it, without asking the database: the first characters of a generated key.

    Two of 100,000 nodes begin alike with a probability of 1 in 3,000; the reference is then an error, never another
    node.
    """
    return key[:MESSAGE_LENGTH] if is_generated_key(key) else key
