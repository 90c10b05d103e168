"""Levels of attitude and proximity that a text says: "hostile", or that one does not get along with somebody."""

import re
from typing import Any

from kgagent.graph.lucene import forms, words
from kgagent.ontology import Ontology

LEVEL_BONUS, DISLIKE_BONUS = 0.1, 0.3
"""What a relationship scores more if the text has the word of its level; if the text speaks of dislike."""

DISLIKED = (1, 2)
"""The lower levels of attitude."""

MAX_TEXT = 1_000
"""Characters of a text in which dislike is searched."""

_DISLIKE = re.compile(
    r"\b(?:dislik\w+|hat(?:e|es|ed)|detest\w*|resent\w*|enem(?:y|ies)|conflicts?|quarrel\w*|feud\w*|hostil\w+|unfriendly"
    r"|on bad terms|f[ae]ll(?:en)? out|argu(?:e|ed|ing) with|get(?:ting)? (?:along|on)\b.*\b(?:least|badly|worst))\b"
    r"|(?:n['\u2019]?t|\b(?:not|never|hardly))\b(?:\W+\w+){0,3}?\W+(?:get(?:ting)? (?:along|on)|like|trust|stand)\b",
    re.IGNORECASE,
)


def said_levels(text: str, ontology: Ontology) -> list[dict[str, Any]]:
    """The levels, with what a relationship at each scores more: [{type, field, level, bonus}]."""
    said = {form.casefold() for word in words(text) for form in forms(word)}
    bonuses = {key: LEVEL_BONUS for key, word in ontology.level_words.items() if word.casefold() in said}
    if _DISLIKE.search(text[:MAX_TEXT]):
        of_dislike = [key for key in ontology.level_words if key[1] == "attitude" and key[2] in DISLIKED]
        bonuses |= dict.fromkeys(of_dislike, DISLIKE_BONUS)
    return [
        {"type": neo4j_type, "field": field, "level": level, "bonus": bonus}
        for (neo4j_type, field, level), bonus in bonuses.items()
    ]
