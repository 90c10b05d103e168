"""Pairs of names that may mean the same thing."""

from collections.abc import Iterable

from kgagent.retrieval.mentions import name_words

MIN_SHARED_WORDS, MAX_OTHER_WORDS = 2, 2
"""Minimum number of words that two names of one thing share, and maximum of additional words of the longer name."""


def may_name_the_same(one: str, other: str, aliases: Iterable[str] = ()) -> bool:
    """Whether a name has all words of another ("Henry King (director)", "Henry King") and few more, or is an alias."""
    shorter, longer = sorted((set(name_words(one)), set(name_words(other))), key=len)
    may_be = len(shorter) >= MIN_SHARED_WORDS and len(longer - shorter) <= MAX_OTHER_WORDS and shorter <= longer
    return may_be or name_words(one) in map(name_words, aliases)
