"""Text formatting that several modules share."""


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Format a count with its noun: "1 node", "2 nodes", "1,200 entities".

    Args:
        count: the number.
        noun: singular form.
        plural: plural form; by default the noun with an "s".
    """
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"
