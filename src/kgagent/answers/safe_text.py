"""Text of the graph that cannot pose as the words of a tool."""

from kgagent.formatting import in_one_line

STRUCTURE = frozenset('[]|:"<>')
"""Characters with which lines separate names, types and statements."""

OWN_WORDS = ("error", "warning", "nothing", "failed", "note", "replaced")
"""What lines of tools begin with; a name that begins like one is in quotes."""


def safe_text(text: str) -> str:
    """A text in one line, without characters that are not seen, and without what separates the
    statements of a line.
    """
    return " ".join("¦" if word == "|" else word for word in in_one_line(text).split(" "))


def safe_name(name: str) -> str:
    """A name or a type in one line, in quotes if it could be taken for something else."""
    shown = safe_text(name)
    is_plain = STRUCTURE.isdisjoint(shown) and not shown.casefold().startswith(OWN_WORDS)
    return shown if is_plain else '"' + shown.replace('"', "'") + '"'


def safe_section(section: str | None) -> str:
    """The headings above a passage, or its speaker, each as a name; empty for none."""
    return " > ".join(map(safe_name, section.split(" > "))) if section else ""
