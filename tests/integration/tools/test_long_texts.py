"""A text that is longer than embedding models read is stored whole, and the result says what vector
search covers.
"""

from kgagent.tools import Toolset
from tests.support.payloads import succeeded
from tests.support.people import two_friends

WARNING = "characters, of which vector search covers about the first 8,000 at most"
LONG = "They row. " * 900


async def test_the_message_of_every_write_warns_of_a_long_text(tools: Toolset) -> None:
    node = succeeded(await tools.create_node(label="Person", name="Ada", description=LONG))
    assert f"Created Person Ada. Its text has 9,003 {WARNING}" in node["message"]
    key = node["entity_key"]
    assert (
        WARNING
        in succeeded(await tools.update_node(entity_key=key, description=f"{LONG} Often."))[
            "message"
        ]
    )
    ends = await two_friends(tools)
    assert (
        WARNING
        not in succeeded(await tools.update_relationship(**ends, description="They row"))["message"]
    )
    written = succeeded(await tools.update_relationship(**ends, description=LONG))
    assert WARNING in written["message"]
    assert written["relationship"]["description"] == LONG.strip()
    assert (
        WARNING not in succeeded(await tools.update_relationship(**ends, confidence=0.9))["message"]
    )
