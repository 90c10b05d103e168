from dataclasses import replace
from datetime import UTC, datetime, timedelta

from kgagent.models import GraphNode, Note
from kgagent.models.note import MatchedNote
from kgagent.search.candidates import Candidate
from kgagent.search.scoring import WEIGHTS, Features
from kgagent.search.statements import best_of_queries, score_statements

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEEPER = GraphNode(
    entity_key="keeper",
    label="Person",
    name="Jonna",
    description="Lighthouse keeper",
    notes=(
        Note(content="Repairs boats"),
        Note(content="Allergic to peanuts", score="3", similarity="x"),
        Note(content="Repairs everything", expires_at=NOW - timedelta(days=1)),
    ),
)


def found(**similarities: float) -> Candidate:
    """The keeper, found with these similarities of notes; "boats" is that of the first one."""
    contents = {"boats": "Repairs boats", "peanuts": "Allergic to peanuts", "everything": "Repairs everything"}
    notes = {contents[name]: similarity for name, similarity in similarities.items()}
    features = Features(similarity=max((0.4, *similarities.values())))
    return Candidate("keeper", 0.0, None, 0.4, features=features, notes=notes, result=KEEPER)


def scores(candidate: Candidate) -> dict[str, float]:
    assert candidate.result is not None
    return {note.content: note.score for note in candidate.result.notes if isinstance(note, MatchedNote)}


def scored(candidate: Candidate, *words: str) -> Candidate:
    [one] = score_statements([candidate], words, WEIGHTS, least=0.3, now=NOW)
    return one


def test_the_best_statement_decides_the_score_and_others_have_their_own() -> None:
    one = scored(found(boats=0.8))
    of_notes = scores(one)
    assert one.score == of_notes["Repairs boats"]
    assert of_notes["Repairs boats"] > (one.result or KEEPER).description_score > of_notes["Allergic to peanuts"]  # type: ignore[operator]
    assert scored(found(boats=0.8), "boat").score > one.score


def test_a_note_that_has_expired_has_no_score_and_raises_none() -> None:
    assert "Repairs everything" not in scores(scored(found(boats=0.5, everything=0.9)))
    without = replace(found(boats=0.5), result=KEEPER.model_copy(update={"notes": KEEPER.notes[:2]}))
    assert scored(found(boats=0.5), "everything").score == scored(without, "everything").score


def test_of_several_queries_each_statement_has_its_best_score() -> None:
    boats, peanuts = scored(found(boats=0.8)), scored(found(peanuts=0.7))
    best = best_of_queries([peanuts, boats])["keeper"]
    assert best.score == max(boats.score, peanuts.score)
    expected = {name: max(scores(boats)[name], scores(peanuts)[name]) for name in scores(boats)}
    assert scores(best) == expected
