"""How well a text matches a name."""


def tokens(text: str) -> list[str]:
    """The words of a text in lower case, each once, in their order."""
    return list(dict.fromkeys(text.casefold().split()))


def text_score(wanted: str, name: str) -> float:
    """Score a name against what is looked for.

    1.0 where they are equal but for letter case; 0.7 to 1.0 where one holds the other, by their lengths; up to 0.6 by
    the share of words that they have in common; 0.0 else.

    Returns:
        A score, 0 to 1.
    """
    one, other = wanted.casefold().strip(), name.casefold().strip()
    if not one or not other:
        return 0.0
    if one == other:
        return 1.0
    short, long = sorted((one, other), key=len)
    if short in long:
        return 0.7 + 0.3 * len(short) / len(long)
    words, others = tokens(one), tokens(other)
    return min(0.6, len(set(words) & set(others)) / max(len(words), len(others)))
