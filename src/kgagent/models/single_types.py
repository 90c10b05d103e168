"""The free types of which a node has one value at a time, such as "lives in"."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kgagent.models.free_types import normalised_type
from kgagent.ontology import Ontology

Subjects = Mapping[str, set[str]]
"""Nodes by their keys, each with the types of which it has one value."""


@dataclass(frozen=True)
class SingleTypes:
    """The free types of an ontology of which a node has one value, as they are compared."""

    of_source: frozenset[str]
    of_target: frozenset[str]
    symmetric: frozenset[str]

    @classmethod
    def of(cls, ontology: Ontology) -> "SingleTypes":
        """Those of an ontology."""
        lists = (
            ontology.single_valued_types,
            ontology.single_holder_types,
            ontology.symmetric_types,
        )
        return cls(*(frozenset(map(normalised_type, types)) for types in lists))

    def subjects(self, names: Iterable[str], source: str, target: str) -> Subjects:
        """The nodes of a relationship, in its direction, that have one value of one of its
        types.
        """
        found: dict[str, set[str]] = defaultdict(set)
        for name in names:
            of_both = name in self.symmetric and name in self.all
            if of_both or name in self.of_source:
                found[source].add(name)
            if of_both or name in self.of_target:
                found[target].add(name)
        return found

    @property
    def all(self) -> frozenset[str]:
        """All of them."""
        return self.of_source | self.of_target
