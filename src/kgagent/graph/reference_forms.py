"""What a reference to a node may mean: a key, the first characters of a key, the owner, or a
name.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgagent.formatting import has_unpaired_surrogates
from kgagent.graph.lucene import must_be, quoted, words
from kgagent.names import (
    APOSTROPHES,
    compatible_name,
    normalised_name,
    plain_text,
    with_one_apostrophe,
)
from kgagent.ontology import Ontology

MIN_PREFIX = 8
"""Minimum number of characters of a key that refer to its node."""

MIN_SHORT_KEY = 3
"""Minimum number of characters of a text that may be meant as the beginning of a key."""

MESSAGE_LENGTH = 12
"""Characters of a generated key in a message."""

MAX_REFERENCE_LENGTH = 500
"""Characters; a longer text refers to no node."""

MIN_LOOSE_LETTERS = 2
"""Minimum number of letters of a name that is compared without accents, or as a part of a name."""

MAX_FUZZY_WORDS = 8
MIN_FUZZY_LENGTH, MIN_TWO_CHANGED = 4, 8
"""Minimum number of letters of a word that is also searched with a letter changed, and with two."""

_GENERATED_KEY = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}")
_HEXADECIMAL = re.compile(r"[0-9a-f-]+")
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_LABEL_IN_PARENTHESES = re.compile(r"(.*\S)\s*\((\w+)\)", re.DOTALL)
_KEY_IN_PARENTHESES = re.compile(r"\((?:[^()]*[\s,])?([^\s(),]+)\)$")


@dataclass(frozen=True)
class ReferenceForms:
    """The ways to read one reference.

    Attributes:
        keys: the reference as a key, and the key in "Ruth Calder (Person, 5b0c1a2f)", which is how
            texts show a node.
        written: the reference without white space around it.
        name: the reference read as a name, normalized.
    """

    keys: tuple[str, ...]
    written: str
    name: str

    @classmethod
    def of(cls, reference: str) -> "ReferenceForms | None":
        """The forms of a reference; None if it can refer to no node."""
        text = reference.strip()
        if not text or is_too_long(text) or has_unpaired_surrogates(text):
            return None
        inner = [_without_ellipsis(match[1]) for match in _KEY_IN_PARENTHESES.finditer(text)]
        keys = (_without_ellipsis(text), *filter(_is_key_prefix, inner))
        return cls(keys=keys, written=text, name=normalised_name(text))

    @property
    def plain(self) -> str:
        """The name without accents."""
        return plain_text(self.name)

    @property
    def prefixes(self) -> tuple[str, ...]:
        """The reference read as key prefixes."""
        return tuple(filter(_is_key_prefix, self.keys))

    @property
    def may_be_name(self) -> bool:
        """Whether it is also looked up as a name; a reference in the form of a generated key is
        not.
        """
        return not is_generated_key(self.keys[0])

    def name_parameters(self, owners: Sequence[str]) -> Mapping[str, Any]:
        """The parameters by which `resolve_references.cypher` looks for the name; other names are
        in `notes_text`.
        """
        queries = {"query": "name", "alias_query": "notes_text"}
        return {
            "plain": self.plain,
            **{
                parameter: _phrase_query(field, self.written, owners)
                for parameter, field in queries.items()
            },
        }


def name_and_label(reference: str) -> tuple[str, str] | None:
    """The name and the label in "Varnish (Concept)"; None for a reference in another form."""
    match = _LABEL_IN_PARENTHESES.fullmatch(reference.strip())
    return (match[1], match[2]) if match else None


def is_too_long(text: str) -> bool:
    """Whether a text refers to no node, because it or its compatibility form, which is compared, is
    too long.
    """
    limit = MAX_REFERENCE_LENGTH
    # A character can become 18.
    return len(text) > limit or len(text) * 18 > limit < len(unicodedata.normalize("NFKC", text))


def is_generated_key(text: str) -> bool:
    """Whether a text has the form of the keys that kgagent makes."""
    return _GENERATED_KEY.fullmatch(text) is not None


def message_key(key: str) -> str:
    """A key as an answer shows it, without asking the database: the first characters of a generated
    key.

    Two of 100,000 nodes begin alike with a probability of 1 in 3,000; the reference is then an
    error, never another node.
    """
    return key[:MESSAGE_LENGTH] if is_generated_key(key) else key


def is_short_key(text: str) -> bool:
    """Whether a text is rather the beginning of a key, but too short to refer to a node."""
    written = _without_ellipsis(text.strip())
    is_hexadecimal = _HEXADECIMAL.fullmatch(written) is not None and any(
        c.isdigit() for c in written
    )
    return is_hexadecimal and MIN_SHORT_KEY <= len(written) < MIN_PREFIX


def loose_name(reference: str, ontology: Ontology) -> str | None:
    """The plain text of a reference that may be a name without accents or a part of a name;
    otherwise None.

    A key, the owner, and a text with fewer than two letters are none.
    """
    forms = ReferenceForms.of(reference)
    if forms is None or not forms.may_be_name or forms.name in ontology.owner_words:
        return None
    plain = plain_text(forms.written)
    return plain if sum(c.isalpha() for c in plain) >= MIN_LOOSE_LETTERS else None


def similar_name_query(
    reference: str,
    owners: Sequence[str],
    field: str = "name",
    *,
    two_changed: int = MIN_TWO_CHANGED,
) -> str | None:
    """A Lucene query for nodes of some owners whose name contains a word of a reference, or a
    similar one.

    Args:
        reference: the name.
        owners: of the nodes.
        field: the field of the index, `notes_text` for other names.
        two_changed: minimum number of letters of a word that is also searched with two letters
            changed.

    Returns:
        The query, or None if the reference has no words.
    """
    asked = [word.lower() for word in words(reference)[:MAX_FUZZY_WORDS]]
    similar = [
        f"{word}~{2 if len(word) >= two_changed else 1}"
        for word in asked
        if word.isalnum() and len(word) >= MIN_FUZZY_LENGTH
    ]
    alternatives = " ".join([*map(quoted, asked), *similar])
    return f"{must_be('user_id', owners)} +{field}:({alternatives})" if asked else None


def _phrase_query(field: str, reference: str, owners: Sequence[str]) -> str:
    """A query for texts that contain the words of a reference as a phrase, in the forms in which
    they may be stored.
    """
    text = " ".join(reference.split())
    composed = with_one_apostrophe(compatible_name(text))
    forms = [text, composed, unicodedata.normalize("NFD", composed), composed.casefold()]
    forms += [composed.translate(_FULL_WIDTH), composed.casefold().replace("ss", "ß")]
    forms += [form.replace(APOSTROPHES[0], other) for form in forms for other in APOSTROPHES[1:]]
    phrases = dict.fromkeys(form.lower() for form in forms)
    return f"{must_be('user_id', owners)} +{field}:({' '.join(map(quoted, phrases))})"


def _is_key_prefix(text: str) -> bool:
    """Whether a text may be the first characters of a key; a single word without a digit is rather
    a name.
    """
    return (
        len(text) >= MIN_PREFIX
        and text.split() == [text]
        and (_HEXADECIMAL.fullmatch(text) is not None or any(c.isdigit() for c in text))
    )


def _without_ellipsis(text: str) -> str:
    return text.removesuffix("…").removesuffix("...") or text
