"""The expected answers of the scenarios, computed in plain Python from the files.

This module uses neither patterns nor Cypher, so that its answers are independent of them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable

from _foreign_graph import RawGraph, RawNode

Keys = frozenset[str]


class Facts:
    """A graph as dictionaries."""

    def __init__(self, raw: RawGraph) -> None:
        self.nodes = {node.key: node for node in raw.nodes}
        self.relationships = raw.relationships
        self._ahead: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._back: dict[tuple[str, str], set[str]] = defaultdict(set)
        for one in raw.relationships:
            self._ahead[one.start, one.type].add(one.end)
            self._back[one.end, one.type].add(one.start)

    def all(self, label: str, holds: Callable[[RawNode], bool] = lambda _: True) -> Keys:
        """The nodes of a label for which something holds."""
        return frozenset(
            key for key, node in self.nodes.items() if node.label == label and holds(node)
        )

    def ahead(self, keys: Iterable[str], neo4j_type: str) -> Keys:
        """End nodes of the relationships that start at any of the nodes."""
        return frozenset(end for key in keys for end in self._ahead.get((key, neo4j_type), ()))

    def back(self, keys: Iterable[str], neo4j_type: str) -> Keys:
        """Start nodes of the relationships that end at any of the nodes."""
        return frozenset(start for key in keys for start in self._back.get((key, neo4j_type), ()))

    def named(self, label: str, name: str) -> Keys:
        """The nodes of a label and a name."""
        return self.all(label, lambda node: node.name == name)

    def text(self, key: str, field: str) -> str:
        """A property of a node as text; empty if it is missing."""
        return str(self.nodes[key].properties.get(field, ""))


def seniors_on_dizzying_drugs(facts: Facts) -> Keys:
    """Patients of 60 or more on a drug that makes dizzy or tired."""
    old = facts.all("Patient", lambda node: node.properties.get("age_group") in {"60-74", "75+"})
    drugs = [
        key
        for key in facts.all("Medication")
        if _any_of(facts.text(key, "side_effects"), "dizziness", "fatigue")
    ]
    return old & facts.back(drugs, "PRESCRIBED_MEDICATION")


def diabetics_without_metformin(facts: Facts) -> Keys:
    """Patients with type 2 diabetes who are not prescribed Metformin."""
    diabetics = facts.back(facts.named("Condition", "Type 2 Diabetes Mellitus"), "HAS_CONDITION")
    return diabetics - facts.back(facts.named("Medication", "Metformin"), "PRESCRIBED_MEDICATION")


def contraindicated_for_own_condition(facts: Facts, drugs: Iterable[str] | None = None) -> Keys:
    """Patients on a drug that is contraindicated for a condition of their own."""
    among = facts.all("Medication") if drugs is None else frozenset(drugs)
    found: set[str] = set()
    for patient in facts.all("Patient"):
        taken = facts.ahead([patient], "PRESCRIBED_MEDICATION") & among
        if facts.ahead(taken, "CONTRAINDICATED_FOR") & facts.ahead([patient], "HAS_CONDITION"):
            found.add(patient)
    return frozenset(found)


def smokers_with_asthma(facts: Facts) -> Keys:
    """Patients with asthma who smoke now and are prescribed anything."""
    ill = facts.back(facts.named("Condition", "Bronchial Asthma"), "HAS_CONDITION")
    smoking = {key for key in ill if facts.text(key, "smoking_status").startswith("Current Smoker")}
    return frozenset(smoking) & facts.back(facts.all("Medication"), "PRESCRIBED_MEDICATION")


def on_prednisone(facts: Facts) -> Keys:
    """Patients on Prednisone."""
    return facts.back(facts.named("Medication", "Prednisone"), "PRESCRIBED_MEDICATION")


def harmed_by_prednisone(facts: Facts) -> Keys:
    """Patients on Prednisone for whose own condition it is contraindicated."""
    return contraindicated_for_own_condition(facts, facts.named("Medication", "Prednisone"))


def others_of_their_doctors(facts: Facts, patients: Iterable[str]) -> Keys:
    """Patients who share a doctor with any of some patients other than themselves."""
    found: set[str] = set()
    for patient in patients:
        found |= facts.back(facts.ahead([patient], "TREATED_BY"), "TREATED_BY") - {patient}
    return frozenset(found)


def near_weakened_heart_patients(facts: Facts) -> Keys:
    """Patients who share a doctor with another one who has heart failure and takes a
    corticosteroid.
    """
    ill = facts.back(facts.named("Condition", "Congestive Heart Failure"), "HAS_CONDITION")
    drugs = facts.all("Medication", lambda node: node.properties["drug_class"] == "Corticosteroid")
    return others_of_their_doctors(facts, ill & facts.back(drugs, "PRESCRIBED_MEDICATION"))


def within_three_degrees(facts: Facts) -> Keys:
    """Patients up to three shared doctors away from PT-10001."""
    first = facts.named("Patient", "PT-10001")
    reached = set(first)
    for _ in range(3):
        reached |= facts.back(facts.ahead(reached, "TREATED_BY"), "TREATED_BY")
    return frozenset(reached) - first


def rheumatic_on_albuterol(facts: Facts) -> Keys:
    """Patients with rheumatoid arthritis on Albuterol."""
    ill = facts.back(facts.named("Condition", "Rheumatoid Arthritis"), "HAS_CONDITION")
    return ill & facts.back(facts.named("Medication", "Albuterol"), "PRESCRIBED_MEDICATION")


def near_severe_arthritis(facts: Facts) -> Keys:
    """Patients who share a doctor with another one whose rheumatoid arthritis is severe."""
    [arthritis] = facts.named("Condition", "Rheumatoid Arthritis")
    ill = [
        one.start
        for one in facts.relationships
        if (one.type, one.end) == ("HAS_CONDITION", arthritis)
        and one.properties["severity"] == "Severe"
    ]
    return others_of_their_doctors(facts, ill)


def orders_behind_the_typhoon(facts: Facts) -> Keys:
    """Orders of products that hold, at any depth, a material from a vendor where the typhoon is."""
    places = facts.ahead(facts.all("Event"), "AFFECTS_LOCATION")
    held = set(facts.ahead(facts.back(places, "LOCATED_IN"), "SUPPLIES"))
    waiting = set(held)
    while waiting:
        waiting = set(facts.back(waiting, "COMPOSED_OF")) - held
        held |= waiting
    return facts.back(facts.back(held, "MATERIALIZED_AS"), "ORDERS")


def departments_that_share_vendors(facts: Facts, with_: Iterable[str]) -> Keys:
    """Departments that pay a vendor whom one of some other departments pays."""
    found: set[str] = set()
    for department in with_:
        paid = facts.ahead(facts.ahead([department], "HAS_COST_CENTER"), "PAYS")
        found |= facts.back(facts.back(paid, "PAYS"), "HAS_COST_CENTER") - {department}
    return frozenset(found)


def beside_engineering(facts: Facts) -> Keys:
    """Departments that share a vendor with Engineering, which is over its budget."""
    engineering = facts.named("Department", "Engineering")
    return departments_that_share_vendors(
        facts, engineering & facts.back(facts.all("FinancialStatus"), "HAS_OVERRUN")
    )


def beside_any_overrun(facts: Facts) -> Keys:
    """Departments that share a vendor with any other that is over its budget."""
    over = facts.all("FinancialStatus", lambda node: node.properties["type"] == "overrun")
    return departments_that_share_vendors(facts, facts.back(over, "HAS_OVERRUN"))


def funding_where_vendors_deliver(facts: Facts) -> Keys:
    """Departments that fund a project which uses what a vendor of Engineering supplies."""
    paid = facts.ahead(
        facts.ahead(facts.named("Department", "Engineering"), "HAS_COST_CENTER"), "PAYS"
    )
    return facts.ahead(facts.ahead(facts.ahead(paid, "SUPPLIES"), "USED_IN"), "FUNDED_BY")


def components(facts: Facts, product: str) -> Keys:
    """The materials that a product holds, at any depth."""
    held: set[str] = set()
    waiting = set(facts.ahead([product], "MATERIALIZED_AS"))
    while waiting:
        waiting = set(facts.ahead(waiting, "COMPOSED_OF")) - held
        held |= waiting
    return frozenset(held)


def single_sourced_components(facts: Facts) -> Keys:
    """Materials inside products that just one vendor supplies."""
    inside = {one for product in facts.all("Product") for one in components(facts, product)}
    return frozenset(one for one in inside if len(facts.ahead([one], "SUPPLIED_BY")) == 1)


def products_at_risk(facts: Facts) -> Keys:
    """Products with a component that just one vendor supplies."""
    single = single_sourced_components(facts)
    return frozenset(
        product for product in facts.all("Product") if components(facts, product) & single
    )


def behind_the_laptop_overrun(facts: Facts) -> Keys:
    """Vendors of what the laptop project uses that are where an event is, and those events."""
    project = facts.all(
        "Project",
        lambda node: (
            node.name == "Holiday Laptop Launch" and node.properties["status"] == "OVERRUN"
        ),
    )
    found: set[str] = set()
    for vendor in facts.ahead(facts.back(project, "USED_IN"), "SUPPLIED_BY"):
        if events := facts.back(facts.ahead([vendor], "LOCATED_IN"), "AFFECTS_LOCATION"):
            found |= {vendor, *events}
    return frozenset(found)


def cost_centers_of_overruns(facts: Facts) -> Keys:
    """Cost centers of departments that fund a project which is over its budget."""
    over = facts.all("Project", lambda node: node.properties["status"] == "OVERRUN")
    return facts.ahead(facts.ahead(over, "FUNDED_BY"), "HAS_COST_CENTER")


def _any_of(text: str, *words: str) -> bool:
    return any(word in text for word in words)
