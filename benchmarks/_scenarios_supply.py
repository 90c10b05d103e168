"""The scenarios of the supply chain."""

import _walks
from _scenario import Scenario, ask, branch, into, out, pattern, unanswerable, where

from kgagent.models.constraint import Constraint, ConstraintType, PropertyReference
from kgagent.models.pattern_query import CombinatorType, QueryCombinator

STRUCK = (
    out("AFFECTS_LOCATION", "Location"),
    into("LOCATED_IN", "Vendor"),
    out("SUPPLIES", "Material"),
)
ORDERED = (into("MATERIALIZED_AS", "Product"), into("ORDERS", "CustomerOrder"))
SHARED_VENDOR = (
    out("HAS_COST_CENTER", "CostCenter"),
    out("PAYS", "Vendor"),
    into("PAYS", "CostCenter"),
    into("HAS_COST_CENTER", "Department"),
)
COMPONENT = (
    out("MATERIALIZED_AS", "Material"),
    out("COMPOSED_OF", "Material", min_hops=1, max_hops=6),
)
ONE_VENDOR = branch("end", out("SUPPLIED_BY", "Vendor"), at_least=1, at_most=1)
SINGLE_SOURCED = ask(pattern("single", "Product", *COMPONENT, branches=(ONE_VENDOR,)))


def same(at_step: int, name: str, as_step: int, as_name: str) -> Constraint:
    """A property that must equal that of another node of the path."""
    return Constraint(
        type=ConstraintType.PROPERTY_EQUALS,
        property_path=name,
        at_step=at_step,
        value_from=PropertyReference(at_step=as_step, property_path=as_name),
    )


V06 = (
    Scenario(
        "v0.6",
        "Supply Chain Disruption Impact",
        "orders of products that are, or hold at up to three levels, a material from a vendor "
        "where the event is",
        "whole",
        ask(
            combinator=QueryCombinator(
                type=CombinatorType.UNION,
                join_on="end",
                patterns=(
                    pattern("material", "Event", *STRUCK, *ORDERED),
                    pattern(
                        "inside",
                        "Event",
                        *STRUCK,
                        into("COMPOSED_OF", "Material", max_hops=3),
                        *ORDERED,
                    ),
                ),
            )
        ),
        answer_at=("end",),
        labels=("CustomerOrder",),
        right=_walks.orders_behind_the_typhoon,
    ),
    Scenario(
        "v0.6",
        "Budget Contagion via Shared Vendors",
        "other departments that pay a vendor whom Engineering pays, which is over its budget",
        "whole",
        ask(
            pattern(
                "shared",
                "Department",
                *SHARED_VENDOR,
                constraints=(
                    where("start", "name", "Engineering"),
                    where("start", "has_overrun", value=True),
                ),
                distinct_nodes=True,
            )
        ),
        answer_at=("end",),
        labels=("Department",),
        right=_walks.beside_engineering,
        variant="shared vendors",
    ),
    Scenario(
        "v0.6",
        "Budget Contagion via Shared Vendors",
        "departments that fund a project which uses what a vendor of Engineering supplies, as the "
        "description goes",
        "whole",
        ask(
            pattern(
                "funded",
                "Department",
                *SHARED_VENDOR[:2],
                out("SUPPLIES", "Material"),
                out("USED_IN", "Project"),
                out("FUNDED_BY", "Department"),
                constraints=(where("start", "name", "Engineering"),),
            )
        ),
        answer_at=("end",),
        labels=("Department",),
        right=_walks.funding_where_vendors_deliver,
        variant="as described",
    ),
    Scenario(
        "v0.6",
        "Critical Component Single Sourcing Risk",
        "products with a component, at any level, that one vendor alone supplies; nothing says "
        "which are critical",
        "part",
        SINGLE_SOURCED,
        labels=("Product",),
        right=_walks.products_at_risk,
        variant="products",
    ),
    Scenario(
        "v0.6",
        "Critical Component Single Sourcing Risk",
        "the components themselves",
        "part",
        SINGLE_SOURCED,
        answer_at=("end",),
        labels=("Material",),
        right=_walks.single_sourced_components,
        variant="components",
    ),
    Scenario(
        "v0.6",
        "Project Overrun Root Cause Analysis",
        "vendors of what the laptop project uses that are where an event is, and those events",
        "whole",
        ask(
            pattern(
                "cause",
                "Project",
                into("USED_IN", "Material"),
                out("SUPPLIED_BY", "Vendor"),
                out("LOCATED_IN", "Location"),
                into("AFFECTS_LOCATION", "Event"),
                constraints=(
                    where("start", "name", "Holiday Laptop Launch"),
                    where("start", "status", "OVERRUN"),
                    same(1, "country", 2, "code"),
                ),
            )
        ),
        answer_at=(1, "end"),
        labels=("Vendor", "Event"),
        right=_walks.behind_the_laptop_overrun,
    ),
    unanswerable(
        "v0.6",
        "Cross-Department Invoice Anomaly Detection",
        "no HAS_BUDGET and no list of approved vendors in the data",
    ),
)

LEGACY = (
    Scenario(
        "legacy",
        "Cross-Project Resource Allocation",
        "cost centers of departments that fund a project which is over its budget",
        "whole",
        ask(
            pattern(
                "funding",
                "Project",
                out("FUNDED_BY", "Department"),
                out("HAS_COST_CENTER", "CostCenter"),
                constraints=(
                    where("start", "status", "OVERRUN"),
                    same(1, "department", 0, "dept_id"),
                ),
            )
        ),
        answer_at=("end",),
        labels=("CostCenter",),
        right=_walks.cost_centers_of_overruns,
    ),
    Scenario(
        "legacy",
        "Cost Center Contagion Analysis",
        "departments that pay a vendor whom another pays that is over its budget",
        "whole",
        ask(
            pattern(
                "contagion",
                "Department",
                *SHARED_VENDOR,
                branches=(
                    branch(
                        "start",
                        out("HAS_OVERRUN", "FinancialStatus"),
                        constraints=(where(0, "type", "overrun"),),
                    ),
                ),
                distinct_nodes=True,
            )
        ),
        answer_at=("end",),
        labels=("Department",),
        right=_walks.beside_any_overrun,
    ),
)

SCENARIOS = (*V06, *LEGACY)
