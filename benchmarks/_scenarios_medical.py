"""The scenarios of the hospital: each patient of its data has one condition, one medication and one
doctor.
"""

import _walks
from _scenario import Scenario, ask, branch, holds, into, out, pattern, unanswerable, where

from kgagent.models.constraint import ConstraintType
from kgagent.models.pattern import Branch, GraphPattern, StepDirection
from kgagent.models.pattern_query import CombinatorType, QueryCombinator

PRESCRIBED, ILL, TREATED, BAD_FOR = (
    "PRESCRIBED_MEDICATION",
    "HAS_CONDITION",
    "TREATED_BY",
    "CONTRAINDICATED_FOR",
)
ARTHRITIS = where(0, "name", "Rheumatoid Arthritis")

SAME_DOCTOR = (into(ILL, "Patient"), out(TREATED, "Doctor"), into(TREATED, "Patient"))
OWN_CONDITION = (out(PRESCRIBED, "Medication"), out(BAD_FOR, "Condition"), into(ILL, "Patient"))


def smoking_asthmatics(*branches: Branch) -> GraphPattern:
    """Current smokers with asthma from whom the branches lead."""
    return pattern(
        "smokers",
        "Condition",
        into(ILL, "Patient"),
        constraints=(
            where("start", "name", "Bronchial Asthma"),
            holds(ConstraintType.STARTS_WITH, 0, "smoking_status", "Current Smoker"),
        ),
        branches=branches,
    )


V06 = (
    unanswerable(
        "v0.6",
        "Hidden Drug Interaction Chain",
        "no SCHEDULED_FOR and no INTERACTS_WITH: neither procedures nor interactions of drugs are "
        "in the data",
    ),
    unanswerable(
        "v0.6",
        "Transitive Infection Exposure Risk",
        "none of the five conditions is communicable, and nothing says which conditions are",
    ),
    Scenario(
        "v0.6",
        "Polypharmacy Cascade Risk",
        "patients of 60 or more on a drug whose side effects name dizziness or fatigue; nobody has "
        "two drugs, nobody "
        "osteoporosis, and side effects are text on the drug instead of CAUSES_SIDE_EFFECT",
        "part",
        ask(
            pattern(
                "seniors",
                "Patient",
                out(PRESCRIBED, "Medication"),
                constraints=(
                    holds(ConstraintType.PROPERTY_IN, "start", "age_group", ["60-74", "75+"]),
                    holds(ConstraintType.REGEX_MATCH, 0, "side_effects", ".*(dizziness|fatigue).*"),
                ),
            )
        ),
        labels=("Patient",),
        right=_walks.seniors_on_dizzying_drugs,
    ),
    Scenario(
        "v0.6",
        "Treatment Protocol Gap Detection",
        "patients with type 2 diabetes and no Metformin; there is no STANDARD_TREATMENT, so the "
        "query names the drug",
        "part",
        ask(
            pattern(
                "untreated",
                "Patient",
                out(ILL, "Condition"),
                constraints=(where(0, "name", "Type 2 Diabetes Mellitus"),),
                branches=(
                    branch(
                        "start",
                        out(PRESCRIBED, "Medication"),
                        constraints=(where(0, "name", "Metformin"),),
                        at_most=0,
                    ),
                ),
            )
        ),
        labels=("Patient",),
        right=_walks.diabetics_without_metformin,
    ),
    unanswerable(
        "v0.6",
        "Cross-Specialty Contraindication",
        "nobody has two doctors or two drugs, no relationship says who prescribed what, and "
        "CONTRAINDICATED_FOR joins "
        "a drug with a condition, not with another drug",
    ),
)

LEGACY = (
    Scenario(
        "legacy",
        "Multi-Hop Contraindication Discovery",
        "patients on a drug that is contraindicated for a condition of their own: a cycle",
        "whole",
        ask(pattern("contraindicated", "Patient", *OWN_CONDITION, cycle=True)),
        labels=("Patient",),
        right=_walks.contraindicated_for_own_condition,
    ),
    Scenario(
        "legacy",
        "High-Risk Behavioral Pattern",
        "current smokers with asthma who are prescribed anything; no HAS_INTERACTION says which "
        "drugs mind smoking",
        "part",
        ask(smoking_asthmatics(branch(0, out(PRESCRIBED, "Medication")))),
        answer_at=("end",),
        labels=("Patient",),
        right=_walks.smokers_with_asthma,
    ),
    Scenario(
        "legacy",
        "Cascading Side Effect Risk",
        "patients on Prednisone; there is no CAUSES_SIDE_EFFECT to follow any further",
        "part",
        ask(
            pattern(
                "prednisone",
                "Patient",
                out(PRESCRIBED, "Medication"),
                constraints=(where(0, "name", "Prednisone"),),
            )
        ),
        labels=("Patient",),
        right=_walks.on_prednisone,
        variant="all",
    ),
    Scenario(
        "legacy",
        "Cascading Side Effect Risk",
        "patients on Prednisone for whose own condition it is contraindicated: there are none",
        "part",
        ask(
            pattern(
                "harmed",
                "Patient",
                *OWN_CONDITION,
                cycle=True,
                constraints=(where(0, "name", "Prednisone"),),
            )
        ),
        labels=("Patient",),
        right=_walks.harmed_by_prednisone,
        variant="contraindicated",
    ),
    Scenario(
        "legacy",
        "Transitive Exposure Risk",
        "patients who share a doctor with another who has heart failure and takes a "
        "corticosteroid, which stands for "
        "immunocompromised: nothing in the data says who is",
        "part",
        ask(
            pattern(
                "exposed",
                "Condition",
                *SAME_DOCTOR,
                constraints=(where("start", "name", "Congestive Heart Failure"),),
                branches=(
                    branch(
                        0,
                        out(PRESCRIBED, "Medication"),
                        constraints=(where(0, "drug_class", "Corticosteroid"),),
                    ),
                ),
            )
        ),
        answer_at=("end",),
        labels=("Patient",),
        right=_walks.near_weakened_heart_patients,
    ),
    Scenario(
        "legacy",
        "Network Contagion: 3-Degree Separation",
        "patients up to three shared doctors, that is six relationships, away from PT-10001; "
        "nobody has two doctors, "
        "so they are those of one doctor",
        "whole",
        ask(
            pattern(
                "network",
                "Patient",
                out(TREATED, "Patient", direction=StepDirection.BOTH, min_hops=2, max_hops=6),
                constraints=(where("start", "patient_id", "PT-10001"),),
                distinct_nodes=True,
            )
        ),
        answer_at=("end",),
        labels=("Patient",),
        right=_walks.within_three_degrees,
    ),
    Scenario(
        "legacy",
        "Polypharmacy Risk Pattern",
        "patients with rheumatoid arthritis on Albuterol; nobody has a second condition or drug",
        "part",
        ask(
            combinator=QueryCombinator(
                type=CombinatorType.INTERSECTION,
                join_on="start",
                patterns=(
                    pattern(
                        "arthritis", "Patient", out(ILL, "Condition"), constraints=(ARTHRITIS,)
                    ),
                    pattern(
                        "albuterol",
                        "Patient",
                        out(PRESCRIBED, "Medication"),
                        constraints=(where(0, "name", "Albuterol"),),
                    ),
                ),
            )
        ),
        labels=("Patient",),
        right=_walks.rheumatic_on_albuterol,
    ),
    Scenario(
        "legacy",
        "Provider Network Cascade",
        "patients who share a doctor with another whose rheumatoid arthritis is severe; there is "
        "no WORKS_AT",
        "part",
        ask(
            pattern(
                "network",
                "Condition",
                *SAME_DOCTOR,
                constraints=(
                    where("start", "name", "Rheumatoid Arthritis"),
                    where(0, "severity", "Severe", on="relationship"),
                ),
            )
        ),
        answer_at=("end",),
        labels=("Patient",),
        right=_walks.near_severe_arthritis,
    ),
    unanswerable(
        "legacy",
        "Bidirectional Risk Network",
        "no INTERACTS_WITH, and nothing in the data that a risk in both directions could be",
    ),
)

SCENARIOS = (*V06, *LEGACY)
