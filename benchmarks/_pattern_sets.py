"""Sets of hospital patients as patterns: answers that the file has without queries."""

import json
from collections.abc import Mapping
from pathlib import Path

from _foreign_graph import RawGraph
from _pattern_cases import GOLD, Case
from _scenario import ask, branch, into, out, pattern, where
from _scenarios_medical import (
    ARTHRITIS,
    BAD_FOR,
    ILL,
    OWN_CONDITION,
    PRESCRIBED,
    SAME_DOCTOR,
    TREATED,
    smoking_asthmatics,
)

from kgagent.models.constraint import Position
from kgagent.models.pattern import GraphPattern
from kgagent.models.pattern_query import CombinatorType, GraphQuery, QueryCombinator

DIABETES, HEART_FAILURE = "Type 2 Diabetes Mellitus", "Congestive Heart Failure"
Asked = tuple[GraphQuery, Position]


def takes(drug: str) -> GraphPattern:
    """Patients on a drug."""
    return pattern(
        drug, "Patient", out(PRESCRIBED, "Medication"), constraints=(where(0, "name", drug),)
    )


def has(condition: str) -> GraphPattern:
    """Patients with a condition."""
    return pattern(
        condition, "Patient", out(ILL, "Condition"), constraints=(where(0, "name", condition),)
    )


def both(*patterns: GraphPattern) -> Asked:
    """Patients at which all of the patterns start."""
    return ask(
        combinator=QueryCombinator(type=CombinatorType.INTERSECTION, patterns=patterns)
    ), "start"


def near(condition: str, *, with_self: bool) -> Asked:
    """Patients who share a doctor with a patient who has a condition."""
    made = pattern(
        "near",
        "Condition",
        *SAME_DOCTOR,
        constraints=(where("start", "name", condition),),
        repeat_relationships=with_self,
    )
    return ask(made), "end"


def smokers(*, on: str | None = None) -> Asked:
    """Current smokers with asthma, optionally on a drug."""
    drugs = (
        [branch(0, out(PRESCRIBED, "Medication"), constraints=(where(0, "name", on),))]
        if on
        else []
    )
    return ask(smoking_asthmatics(*drugs)), "end"


def in_sequence() -> Asked:
    """Patients who share a doctor with one who has heart failure, in two patterns one after the
    other.
    """
    ill = pattern(
        "ill",
        "Condition",
        into(ILL, "Patient"),
        constraints=(where("start", "name", HEART_FAILURE),),
    )
    shared = pattern("shared", "Patient", out(TREATED, "Doctor"), into(TREATED, "Patient"))
    return ask(
        combinator=QueryCombinator(type=CombinatorType.SEQUENTIAL, patterns=(ill, shared))
    ), "end"


def two_conditions() -> Asked:
    """Patients with arthritis from whom another relationship leads to diabetes."""
    diabetes = branch("start", out(ILL, "Condition"), constraints=(where(0, "name", DIABETES),))
    made = pattern(
        "both", "Patient", out(ILL, "Condition"), constraints=(ARTHRITIS,), branches=(diabetes,)
    )
    return ask(made), "start"


def bad_for_the_heart() -> Asked:
    """Patients on a drug that is contraindicated for heart failure, whatever they have."""
    steps = out(PRESCRIBED, "Medication"), out(BAD_FOR, "Condition")
    return ask(
        pattern("bad", "Patient", *steps, constraints=(where(1, "name", HEART_FAILURE),))
    ), "start"


def of_the_same_doctor() -> Asked:
    """Patients whose doctor is that of PT-10001."""
    steps = out(TREATED, "Doctor"), into(TREATED, "Patient")
    return ask(
        pattern("same", "Patient", *steps, constraints=(where("start", "patient_id", "PT-10001"),))
    ), "end"


SETS: Mapping[str, tuple[Asked, ...]] = {
    "contraindicated_rx": (
        (ask(pattern("cycle", "Patient", *OWN_CONDITION, cycle=True)), "start"),
    ),
    "current_smoker_asthma": (smokers(),),
    "current_smoker_asthma_albuterol": (smokers(on="Albuterol"),),
    "prednisone_and_t2dm": (both(takes("Prednisone"), has(DIABETES)),),
    "ra_and_albuterol": (both(has("Rheumatoid Arthritis"), takes("Albuterol")),),
    "ra_and_t2dm": (two_conditions(), both(has("Rheumatoid Arthritis"), has(DIABETES))),
    "on_chf_contraindicated_med": (bad_for_the_heart(),),
    "shares_doctor_with_chf_patient_incl_self": (near(HEART_FAILURE, with_self=True),),
    "shares_doctor_with_other_chf_patient": (near(HEART_FAILURE, with_self=False), in_sequence()),
    "shares_doctor_with_ra_patient_incl_self": (near("Rheumatoid Arthritis", with_self=True),),
    "same_doctor_as_PT-10001_excl_self": (of_the_same_doctor(),),
}
"""How each set is asked for; where there are two ways, both."""


def sets(folder: Path, raw: RawGraph) -> list[Case]:
    """All sets of the file."""
    given = json.loads((folder / GOLD).read_text("utf-8"))["sets"]
    keys = {node.name: node.key for node in raw.nodes}
    return [
        Case(
            f"set {name}" + (f", way {number}" if number else ""),
            asked,
            {at: frozenset(keys[one] for one in names)},
        )
        for name, names in given.items()
        for number, (asked, at) in enumerate(SETS[name])
    ]
