"""What a reference to a node may mean: a key, the first characters of a key, the owner, or a name."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from kgagent.graph.lucene import must_be, quoted, words
from kgagent.plain_names import INVISIBLE, plain_name, without_accents, without_invisible

MIN_PREFIX = 8
"""Minimum number of characters of a key that refer to its node."""

MIN_SHORT_KEY = 3
"""Minimum number of characters of a text that may be meant as the beginning of a key."""

SIMILAR_WORD = 0.7
"""Minimum ratio of `difflib` of two words of names that are spelt alike."""

MAX_REFERENCE_LENGTH = 500
"""Characters; a longer text refers to no node."""

MIN_LOOSE_LETTERS = 2
"""Minimum number of letters of a name that is compared without accents, or as a part of a name."""

MAX_COMPARED_LETTERS = 8
"""Letters of a name that are looked for before its regular expressions are tried."""

_TITLES = """
    dame dr frau fraulein herr lady lord madame miss mister mlle mme monsieur mr mrs ms phd prof professor senor senora
    signor signora sir jr junior sr senior ii iii iv
"""
_PARTICLES = "and da de del della den der des dos du el ibn la of ter the und van vom von zu zum zur"
NO_NAMES = frozenset(f"{_TITLES} {_PARTICLES}".split())
"""Titles and particles, which alone mean nobody."""

OWNER_WORDS = frozenset({"me", "i", "myself"})

MAX_FUZZY_WORDS = 8
MIN_FUZZY_LENGTH, MIN_TWO_CHANGED = 4, 8
"""Minimum number of letters of a word that is also searched with a letter changed, and with two."""

_GENERATED_KEY = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}")
_HEXADECIMAL = re.compile(r"[0-9a-f-]+")
_FOLDED = {0xDF: "ss", 0x3C2: "\N{GREEK SMALL LETTER SIGMA}"} | dict.fromkeys(map(ord, " \t\n\r"))
"""Sharp s and final sigma, which lower case keeps, and the white space that the database removes."""

_BETWEEN_WORDS = r"[\s,;.()\"/]"
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_LABEL_IN_PARENTHESES = re.compile(r"(.*\S)\s*\((\w+)\)", re.DOTALL)
_KEY_IN_PARENTHESES = re.compile(r"\((?:[^()]*[\s,])?([^\s(),]+)\)$")


@dataclass(frozen=True)
class ReferenceForms:
    """The ways to read one reference.

    Attributes:
        key: the reference read as a key or a key prefix.
        inner_key: the key in "Ruth Calder (Person, 5b0c1a2f)", which is how texts show a node.
        written: the reference without white space around it.
        name: the reference read as a name, normalized.
        folded: the name in the form in which the database compares it.
    """

    key: str
    inner_key: str | None
    written: str
    name: str
    folded: str

    @classmethod
    def of(cls, reference: str) -> "ReferenceForms | None":
        """The forms of a reference; None if it can refer to no node."""
        text = reference.strip()
        if not text or is_too_long(text) or not _is_valid(text):
            return None
        key = text.removesuffix("…").removesuffix("...") or text
        inner = _KEY_IN_PARENTHESES.search(text)
        inner_key = inner.group(1).removesuffix("…").removesuffix("...") if inner else None
        return cls(
            key=key,
            inner_key=inner_key if inner_key is not None and is_key_prefix(inner_key) else None,
            written=text,
            name=normalised_name(text),
            folded=_folded(text),
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """The reference read as keys."""
        return (self.key,) if self.inner_key is None else (self.key, self.inner_key)

    @property
    def prefixes(self) -> tuple[str, ...]:
        """The reference read as key prefixes."""
        return tuple(key for key in self.keys if is_key_prefix(key))

    @property
    def may_be_name(self) -> bool:
        """Whether it is also looked up as a name; a reference in the form of a generated key is not."""
        return not is_generated_key(self.key)

    @property
    def is_owner(self) -> bool:
        """Whether it means the owner of the graph, if there is one."""
        return self.name in OWNER_WORDS


def name_and_label(reference: str) -> tuple[str, str] | None:
    """The name and the label in "Varnish (Concept)"; None for a reference in another form."""
    found = _LABEL_IN_PARENTHESES.fullmatch(reference.strip())
    return (found[1], found[2]) if found else None


def is_too_long(text: str) -> bool:
    """Whether a text refers to no node, because it or its compatibility form, which is compared, is too long."""
    limit = MAX_REFERENCE_LENGTH
    # A character can become 18.
    return len(text) > limit or len(text) * 18 > limit < len(unicodedata.normalize("NFKC", text))


def is_generated_key(text: str) -> bool:
    """Whether a text has the form of the keys that kgagent makes."""
    return _GENERATED_KEY.fullmatch(text) is not None


def is_key_prefix(text: str) -> bool:
    """Whether a text may be the first characters of a key; a single word without a digit is rather a name."""
    return (
        len(text) >= MIN_PREFIX
        and text.split() == [text]
        and (_HEXADECIMAL.fullmatch(text) is not None or any(c.isdigit() for c in text))
    )


def is_short_key(text: str) -> bool:
    """Whether a text is rather the beginning of a key, but too short to refer to a node."""
    written = text.strip().removesuffix("…").removesuffix("...")
    is_hexadecimal = _HEXADECIMAL.fullmatch(written) is not None and any(c.isdigit() for c in written)
    return is_hexadecimal and MIN_SHORT_KEY <= len(written) < MIN_PREFIX


def is_near(reference: str, names: Iterable[str]) -> bool:
    """Whether one of the names has a word of a reference, or a similar one, that is no title or particle."""
    wanted = [word for word in _compared_words(reference) if word not in NO_NAMES]
    words_of_names = {word for name in names for word in _compared_words(name) if word not in NO_NAMES}
    return any(are_spelt_alike(word, other) for word in wanted for other in words_of_names)


def are_spelt_alike(word: str, other: str) -> bool:
    """Whether two words of names are the same or differ little: "rajiv" and "rajeev"."""
    if word == other:
        return True
    compared = SequenceMatcher(None, word, other)
    # Upper bounds of the ratio, which cost less.
    return all(ratio() >= SIMILAR_WORD for ratio in (compared.real_quick_ratio, compared.quick_ratio, compared.ratio))


def normalised_name(name: str) -> str:
    """A name without differences of letter case, Unicode compatibility forms, invisible characters and white space."""
    return " ".join(without_invisible(unicodedata.normalize("NFKC", name)).casefold().split())


@dataclass(frozen=True)
class LooseName:
    """How names are compared without accents; the regular expressions are those of the database.

    Attributes:
        letters: some of its letters, without accents.
        whole: matches the name, with or without accents.
        words: matches a longer name, too, that contains its words one after the other; like `whole` if there are only
            titles and particles.
    """

    letters: tuple[str, ...]
    whole: str
    words: str

    @classmethod
    def of(cls, reference: str) -> "LooseName | None":
        """How to look for a name; None for a key, for the owner, and for a text with fewer than two letters."""
        forms = ReferenceForms.of(reference)
        if forms is None or not forms.may_be_name or forms.is_owner:
            return None
        letters = without_accents(forms.name)
        if sum(c.isalpha() for c in letters) < MIN_LOOSE_LETTERS or not letters[0].isalnum():
            return None
        escaped = (r"\s+" if c == " " else c if c.isalnum() else f"\\{c}" for c in letters)
        whole = "".join(f"{c}[\\p{{M}}{INVISIBLE}]*" for c in escaped)
        words = [word.strip(".,") for word in letters.split()]
        return cls(
            letters=tuple(dict.fromkeys(c for c in letters if c.isalnum()))[:MAX_COMPARED_LETTERS],
            whole=whole,
            words=whole
            if NO_NAMES.issuperset(words)
            else rf"(?:[\s\S]*{_BETWEEN_WORDS})?{whole}(?:{_BETWEEN_WORDS}[\s\S]*)?",
        )


def spaced_words(name: str) -> str:
    """The words of a name without accents, each between two spaces."""
    return " ".join(["", *_compared_words(name), ""])


def part_of_name(reference: str) -> str | None:
    """What `spaced_words` of a name contains if the name contains the words of a reference, as `LooseName` finds them.

    Returns:
        The text, or None if the reference is no part of any name.
    """
    if LooseName.of(reference) is None or NO_NAMES.issuperset(_compared_words(reference)):
        return None
    return spaced_words(reference)


def _compared_words(text: str) -> list[str]:
    return [word for word in re.split(_BETWEEN_WORDS, without_accents(normalised_name(text))) if word]


def name_query(reference: str, user_id: str) -> str:
    """A Lucene query for the user's nodes whose name contains the words of a reference as a phrase."""
    return _phrase_query("name", reference, user_id)


def alias_query(reference: str, user_id: str) -> str:
    """A Lucene query for the user's nodes that may have a reference as an alias, which is indexed with the notes."""
    return _phrase_query("notes_text", reference, user_id)


def _phrase_query(field: str, reference: str, user_id: str) -> str:
    text = " ".join(reference.split())
    composed = unicodedata.normalize("NFKC", text)
    forms = [text, composed, *(unicodedata.normalize(form, composed) for form in ("NFC", "NFD")), composed.casefold()]
    forms += [composed.translate(_FULL_WIDTH), composed.casefold().replace("ss", "ß"), plain_name(text)]
    phrases = dict.fromkeys(form.lower() for form in forms)
    return f"{must_be('user_id', [user_id])} +{field}:({' '.join(map(quoted, phrases))})"


def similar_name_query(
    reference: str, user_id: str, field: str = "name", *, two_changed: int = MIN_TWO_CHANGED
) -> str | None:
    """A Lucene query for the user's nodes whose name contains a word of a reference, or a similar one.

    Args:
        reference: the name.
        user_id: owner of the nodes.
        field: the field of the index, `notes_text` for other names.
        two_changed: minimum number of letters of a word that is also searched with two letters changed.

    Returns:
        The query, or None if the reference has no words.
    """
    found = [word.lower() for word in words(reference)[:MAX_FUZZY_WORDS]]
    similar = [
        f"{word}~{2 if len(word) >= two_changed else 1}"
        for word in found
        if word.isalnum() and len(word) >= MIN_FUZZY_LENGTH
    ]
    alternatives = " ".join([*map(quoted, found), *similar])
    return f"{must_be('user_id', [user_id])} +{field}:({alternatives})" if found else None


def compared_name(forms: ReferenceForms, user_id: str) -> Mapping[str, Any]:
    """The parameter by which `resolve_references.cypher` looks for a name."""
    return {
        "folded": forms.folded,
        "query": name_query(forms.written, user_id),
        "alias_query": alias_query(forms.written, user_id),
    }


def _folded(name: str) -> str:
    """The name as `_folded_text.cypher` computes it."""
    return without_invisible(unicodedata.normalize("NFKC", name).lower()).translate(_FOLDED)


def _is_valid(text: str) -> bool:
    """Whether the database accepts a text: it has no unpaired surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
