"""Nodes that a text calls by what they are to its author: "my brother" by a relationship of type "brother of"."""

import re
from collections.abc import Collection, Sequence

from kgagent.graph.lucene import forms
from kgagent.graph.records import RelationshipRecord
from kgagent.retrieval.mentions import name_words

ROLE_WORDS = 3
"""Words after "my" among which one names the role: "my two older brothers"."""

MAX_ROLES = 5
"""Maximum number of nodes; more are rather what is asked for than where to go on."""

MAX_TEXT = 1_000
"""Characters of a text that are read."""

_QUESTION = (
    "how what when where which who whom whose is are am was were be do does did have has had know list name show tell"
)
_SMALL_WORDS = "a about all an and any at by for i in many me my names of on or the there to with"
_NO_STATEMENT = frozenset(re.findall(r"\w+", f"{_QUESTION} {_SMALL_WORDS}"))
_AFTER_MY = re.compile(r"\bmy\b(?=((?:\W+\w+){1,3}))", re.IGNORECASE)
_GENITIVE = re.compile(r"['\u2019]s\b")

# "My brother" is no brother-in-law and "my husband" no ex-husband, but "my in-laws" and "my ex" may be.
_KIN = (
    "aunt|brother|child|cousin|dad|daughter|father|grand(?:child|daughter|father|mother|parent|son)|husband|mom|mother|mum|"
    "nephew|niece|parent|sibling|sister|son|uncle|wife"
)
_HYPHENS, _START = r"[_\u2010-\u2015-]{1,3}", r"(?<![^\W_])"
_JOINT = rf"(?:{_HYPHENS}|\s{{1,3}})"
_IN_LAW = re.compile(
    rf"(?i){_START}(?:({_KIN})s?{_JOINT}in{_JOINT}|in{_HYPHENS}|(?<=my )in )laws?(?![^\W_])"
    r"(?!\W+(?:school|firm|enforcement)\b)"
)
_PREFIX = re.compile(
    rf"(?i){_START}(?:(ex){_HYPHENS}(?=[^\W_])|(?:(great|grand){_HYPHENS}|(ex|half|step){_JOINT})(?=great|grand|{_KIN}))"
)


def role_keys(text: str, owner: Collection[str], records: Sequence[RelationshipRecord]) -> frozenset[str]:
    """Keys of the nodes that a text in the first person calls by a role, to say or ask something about them.

    None if they are more than `MAX_ROLES`, or if the text asks for them only ("who are my mentors?").

    Args:
        text: for example a question.
        owner: keys of the node that stands for its author.
        records: relationships of that node.
    """
    roles: dict[str, set[str]] = {}
    for record in records:
        at_role = {record.from_entity_key, record.to_entity_key} - set(owner)
        for word in _type_words(record.text("relationship_type")[:MAX_TEXT]) - _NO_STATEMENT:
            roles.setdefault(word, set()).update(at_role)
    read = _joined(_GENITIVE.sub(",", text[:MAX_TEXT]))
    found: set[str] = set()
    others = set(name_words(read)) - _NO_STATEMENT
    for phrase in _AFTER_MY.findall(read):
        for word in name_words(phrase)[:ROLE_WORDS]:
            if meant := [roles[form] for form in forms(word) if form in roles]:
                found |= meant[0]
                others.discard(word)
                break
    return frozenset(found) if others and len(found) <= MAX_ROLES else frozenset()


def _joined(text: str) -> str:
    """The text with "brother-in-law" and "ex-husband" as one word each."""
    return _PREFIX.sub(r"\1\2\3", _IN_LAW.sub(r"\1inlaw", text))


def _type_words(relationship_type: str) -> set[str]:
    """Words by which a text may call a node at a relationship of this type."""
    words = set(name_words(_joined(relationship_type)))
    kinds = {"ex"} & set(name_words(relationship_type))
    return words | kinds | ({"inlaw"} if any(word.endswith("inlaw") for word in words) else set())
