"""How to write a pattern query: worked examples and the fields that the schema leaves out, for a
model.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class WorkedExample:
    """A question and the arguments of query_patterns that answer it.

    Attributes:
        question: the question.
        shows: what the example shows.
        arguments: the arguments.
    """

    question: str
    shows: str
    arguments: Mapping[str, Any]


def _step(
    source: str | None,
    relation_type: str | None,
    target: str,
    **more: Any,  # noqa: ANN401
) -> dict[str, Any]:
    step = {"source_label": source, "relation_type": relation_type, "target_label": target, **more}
    return {name: value for name, value in step.items() if value is not None}


def _constraint(
    kind: str,
    property_path: str,
    value: object,
    at_step: int | str,
    **more: Any,  # noqa: ANN401
) -> dict[str, Any]:
    return {
        "type": kind,
        **more,
        "property_path": property_path,
        "value": value,
        "at_step": at_step,
    }


def _named(name: str, at_step: int | str) -> dict[str, Any]:
    return _constraint("PROPERTY_EQUALS", "name", name, at_step)


def _word(word: str, at_step: int) -> dict[str, Any]:
    """A constraint on the free word of a relationship."""
    return _constraint("PROPERTY_EQUALS", "relationship_type", word, at_step, on="relationship")


def _patient_has(relation_type: str, target_label: str, name: str) -> dict[str, Any]:
    """A pattern: a patient has a relationship with a node of that name."""
    return {
        "steps": [_step("Patient", relation_type, target_label)],
        "constraints": [_named(name, 0)],
    }


INTERESTS_OF_MENTORS: Mapping[str, Any] = {
    "query": "What are my mentors interested in?",
    "patterns": [
        {
            "steps": [
                _step("Person", None, "Person", direction="INCOMING"),
                _step(None, "engages_with", "Concept"),
            ],
            "constraints": [_named("Me", "start"), _word("mentor", 0)],
        }
    ],
}

WORKED_EXAMPLES = (
    WorkedExample(
        "What are my mentors interested in?",
        'A word such as "mentor" is a property of the relationship. "Ruth mentor Me" leads from '
        "Ruth to me, so from me "
        "it is INCOMING",
        INTERESTS_OF_MENTORS,
    ),
    WorkedExample(
        "Which patients take a drug that is contraindicated for a condition of theirs?",
        "Three steps; a cycle ends at its start node",
        {
            "patterns": [
                {
                    "steps": [
                        _step("Patient", "PRESCRIBED_MEDICATION", "Medication"),
                        _step(None, "CONTRAINDICATED_FOR", "Condition"),
                        _step(None, "HAS_CONDITION", "Patient", direction="INCOMING"),
                    ],
                    "cycle": True,
                }
            ],
        },
    ),
    WorkedExample(
        "Which patients match all 5 risk criteria?",
        "INTERSECTION keeps the start nodes that every pattern has; a branch counts the nodes "
        "reached from a node",
        {
            "combinator": {
                "type": "INTERSECTION",
                "join_on": "start",
                "patterns": [
                    _patient_has("HAS_CONDITION", "Condition", "Rheumatoid arthritis"),
                    _patient_has("PRESCRIBED_MEDICATION", "Medication", "Albuterol"),
                    _patient_has("HAS_CONDITION", "Condition", "Diabetes"),
                    {
                        "steps": [
                            _step("Patient", "TREATED_BY", "Doctor"),
                            _step(None, "TREATED_BY", "Patient", direction="INCOMING"),
                        ]
                    },
                    {
                        "steps": [_step("Patient", "HAS_RESULT", "LabResult")],
                        "constraints": [_constraint("GREATER_THAN", "value", 7, 0)],
                        "branches": [
                            {
                                "at_step": "start",
                                "steps": [_step(None, "PRESCRIBED_MEDICATION", "Medication")],
                                "at_least": 2,
                            }
                        ],
                    },
                ],
            }
        },
    ),
    WorkedExample(
        "Which of my close friends are not interested in sailing?",
        "A relationship that holds now, and a number on it; a branch with at_most 0 requires that "
        "there is no such path",
        {
            "patterns": [
                {
                    "steps": [_step("Person", None, "Person", direction="BOTH", current=True)],
                    "constraints": [
                        _named("Me", "start"),
                        _word("friend", 0),
                        _constraint("GREATER_THAN_EQUALS", "proximity", 4, 0, on="relationship"),
                    ],
                    "branches": [
                        {
                            "at_step": "end",
                            "steps": [_step(None, "engages_with", "Concept")],
                            "constraints": [_named("Sailing", 0)],
                            "at_most": 0,
                        }
                    ],
                }
            ]
        },
    ),
    WorkedExample(
        "Which products depend on the vendor Volt, through up to 3 parts, and have a customer in "
        "the town of Volt?",
        "A step that follows 1 to 3 relationships; a comparison with a property of another node; "
        "one path for each "
        "product",
        {
            "targets": [{"description": "Volt", "label": "Vendor"}],
            "patterns": [
                {
                    "steps": [
                        _step("Vendor", "SUPPLIES", "Part"),
                        _step(None, "CONTAINS", "Product", direction="INCOMING", max_hops=3),
                        _step(None, "ORDERED", "Customer", direction="INCOMING"),
                    ],
                    "constraints": [
                        {
                            "type": "PROPERTY_EQUALS",
                            "property_path": "town",
                            "at_step": 2,
                            "value_from": {"at_step": "start", "property_path": "town"},
                        }
                    ],
                }
            ],
            "one_path_per": 1,
        },
    ),
)
"""Five questions, two on a graph of kgagent's default ontology and three on graphs of other
programs.
"""

FURTHER_FIELDS = """\
Fields beyond those of the schema:
- step: min_hops (a step of 2 to 4 relationships: min_hops 2, max_hops 4); current (true: only
  relationships that hold now, or as_of the query).
- constraint: node_label (applies only to nodes with that label); value_from
  {at_step, property_path} instead of value; property_path "budget.approved" reads JSON in a
  property; at_step -1 (default) means every node or relationship.
- branch: ends_at (node of the path at which the branch must end).
- pattern: pattern_id (its name in results), distinct_nodes, repeat_relationships, description.
- query: traversal {relation_types, max_depth} from targets, without patterns; one_path_per (best
  path for each node at that position); max_paths (default 20); top_k (texts near the paths);
  strict; ranking (PATH_LENGTH, EDGE_WEIGHT, NODE_CENTRALITY, SEMANTIC_SCORE or HYBRID), weights
  and weight_property for EDGE_WEIGHT and HYBRID.
"""


def pattern_guide() -> str:
    """The worked examples, and the fields that the schema of query_patterns leaves out."""
    lines = [
        "Worked examples for query_patterns. Labels, types and values are examples: use those that "
        "describe_graph "
        "lists, and omit labels and types where any will do.",
    ]
    for number, example in enumerate(WORKED_EXAMPLES, 1):
        arguments = json.dumps(example.arguments, ensure_ascii=False, separators=(",", ":"))
        lines.append(f"{number}. {example.question} ({example.shows}.)\n{arguments}")
    return "\n".join([*lines, FURTHER_FIELDS]).rstrip()
