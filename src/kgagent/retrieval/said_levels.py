"""Levels of attitude and proximity that a text says: "hostile", or that one does not get along with somebody."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kgagent.graph.lucene import forms, words
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.records import RelationshipRecord
from kgagent.ontology import Ontology
from kgagent.retrieval.candidates import Candidate
from kgagent.retrieval.mentions import is_first_person, without_names

LEVEL_BONUS, DISLIKE_BONUS = 0.15, 0.3
"""What a relationship scores more if the text has the word of its level; if the text speaks of dislike."""

DISLIKED, OPPOSED = (1, 2), 3
"""The lower levels of attitude; and the distance of levels of which one costs what the other, which is said, gains."""

MAX_TEXT = 1_000
"""Characters of a text in which dislike is searched."""

_DISLIKE = re.compile(
    r"\b(?:dislik\w+|hat(?:e|es|ed)|detest\w*|resent\w*|enem(?:y|ies)|conflicts?|quarrel\w*|feud\w*|hostil\w+|unfriendly"
    r"|on bad terms|f[ae]ll(?:en)? out|argu(?:e|ed|ing) with|get(?:ting)? (?:along|on)\b.*\b(?:least|badly|worst))\b"
    r"|(?:n['\u2019]?t|\b(?:not|never|hardly))\b(?:\W+\w+){0,3}?\W+(?:get(?:ting)? (?:along|on)|like|trust|stand)\b",
    re.IGNORECASE,
)


def said_levels(text: str, ontology: Ontology) -> list[dict[str, Any]]:
    """The levels, with what a relationship at each scores more, or less than 0: [{type, field, level, bonus}]."""
    said = {form.casefold() for word in words(text) for form in forms(word)}
    bonuses = {key: LEVEL_BONUS for key, word in ontology.level_words.items() if word.casefold() in said}
    for neo4j_type, field, level in tuple(bonuses):
        opposed = [(neo4j_type, field, other) for other in range(1, 6) if abs(other - level) >= OPPOSED]
        bonuses |= {key: -LEVEL_BONUS for key in opposed if key not in bonuses}
    if _DISLIKE.search(text[:MAX_TEXT]):
        of_dislike = [key for key in ontology.level_words if key[1] == "attitude" and key[2] in DISLIKED]
        bonuses |= dict.fromkeys(of_dislike, DISLIKE_BONUS)
    return [
        dict(zip(("type", "field", "level", "bonus"), (*key, bonus), strict=True)) for key, bonus in bonuses.items()
    ]


def said_of_anybody(text: str, ontology: Ontology) -> list[dict[str, Any]]:
    """The attitudes that a text without "my" says, if it speaks of dislike or has only words of levels beside names."""
    level_words = {word.casefold() for word in ontology.level_words.values()}
    is_about_levels = level_words.issuperset(map(str.casefold, words(without_names(text))))
    if is_first_person(text) or not (is_about_levels or _DISLIKE.search(text[:MAX_TEXT])):
        return []
    said = [one for one in said_levels(text, ontology) if one["field"] == "attitude"]
    return [one | {"bonus": math.copysign(LEVEL_BONUS, one["bonus"])} for one in said]


def with_said_levels(candidates: Sequence[Candidate], levels: Sequence[dict[str, Any]]) -> list[Candidate]:
    """Relationships with what their level adds to their score, best first.

    One whose attitude the text says gets a text score of 1, as if its text had the word; one with a text score stays.
    """
    bonuses = {(one["type"], one["field"], one["level"]): one["bonus"] for one in levels}
    found = []
    for one in candidates:
        is_new = bonuses and one.text_score is None
        at = one.record if is_new and isinstance(one.record, RelationshipRecord) else None
        keys = {(at.neo4j_type, field, at.level(field)) for field in LEVEL_FIELDS} if at else ()
        (_, field, _), bonus = next((said for said in bonuses.items() if said[0] in keys), (("", "", 0), 0.0))
        is_said = field == "attitude" and bonus > 0.0
        found.append(replace(one, score=one.score + bonus, text_score=1.0 if is_said else None) if bonus else one)
    return sorted(found, key=lambda one: -one.score)
