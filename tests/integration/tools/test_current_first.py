"""What holds now comes before what has ended, and what has ended is marked, wherever it is shown."""

import pytest

from kgagent.tools import Payload, Toolset
from tests.support.payloads import succeeded
from tests.support.people import remembered

FORMER = "Acme -[led by]-> Zoe (Person) (2015/2018, past)"
WAY = "via Acme led by Zoe (2015/2018, past)"


@pytest.fixture
async def keys(tools: Toolset) -> dict[str, str]:
    """Acme was led by Zoe, who lives in Norway, and is led by Bo, who lives in Sweden."""
    return await remembered(
        tools,
        [
            {"label": "Entity", "name": "Acme"},
            *({"label": "Person", "name": name} for name in ("Zoe", "Bo")),
            *({"label": "Entity", "name": name} for name in ("Norway", "Sweden")),
        ],
        [
            {"from": "Acme", "to": "Zoe", "relationship_type": "led by", "when": "2015/2018"},
            {"from": "Acme", "to": "Bo", "relationship_type": "led by", "when": "2019/.."},
            {"from": "Zoe", "to": "Norway", "relationship_type": "lives in"},
            {"from": "Bo", "to": "Sweden", "relationship_type": "lives in"},
        ],
    )


def others(payload: Payload, field: str = "relationships") -> list[str]:
    """The ends of each relationship by their names, in order."""
    return [f"{one['from_name']} {one['to_name']}" for one in succeeded(payload)[field]]


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    "question", ["Who leads Acme?", "In which country does the leader of Acme live?", "led by"]
)
async def test_a_search_has_the_present_value_and_what_it_leads_to_before_the_former_one(
    tools: Toolset, question: str
) -> None:
    found = others(await tools.hybrid_search(query=question, threshold=-1, expand_hops=2))
    assert found.index("Acme Bo") < found.index("Acme Zoe")
    assert found.index("Bo Sweden") < found.index("Zoe Norway")
    explored = others(await tools.explore(queries=[{"query": question, "threshold": -1}]), "edges")
    assert explored.index("Acme Bo") < explored.index("Acme Zoe")
    then = others(await tools.hybrid_search(query=question, threshold=-1, as_of="2016"))
    assert "Acme Zoe" in then
    assert "Acme Bo" not in then


@pytest.mark.usefixtures("keys")
async def test_a_former_value_is_marked_also_where_it_led_to_a_result(tools: Toolset) -> None:
    asked = {"query": "In which country does Acme's leader live?", "threshold": -1}
    found = succeeded(await tools.hybrid_search(**asked, limit=10))
    past = [f"{one['from_name']} {one['to_name']}" for one in found["relationships"] if "past" in one]
    assert past == ["Acme Zoe"]
    [norway] = [one for one in found["relationships"] if one["to_name"] == "Norway"]
    assert norway["path"] == ["Acme led by Zoe (2015/2018, past)"]
    assert norway["contributions"]["past"] < 0
    then = succeeded(await tools.hybrid_search(**asked, limit=10, as_of="2016"))
    assert "past" not in str(then["relationships"])


@pytest.mark.usefixtures("keys")
async def test_a_question_that_only_a_former_value_answers_finds_it(tools: Toolset) -> None:
    answer = (await tools["hybrid_search"].call_text({"query": "Did Zoe lead Acme?"})).text
    assert FORMER in answer.replace(" 0.", "0.") or "(2015/2018, past)" in answer
