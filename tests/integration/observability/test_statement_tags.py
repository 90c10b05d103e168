import asyncio

from kgagent import KnowledgeGraph, Toolset
from kgagent.graph.statements import Statement
from kgagent.knowledge_graph import services_of
from tests.conftest import Server
from tests.support.people import person
from tests.support.transactions import watch

TAGS_OF_OURS = (
    "SHOW TRANSACTIONS YIELD metaData, parameters WHERE parameters.user_id = $watched "
    "RETURN metaData.app AS app, metaData.statement AS statement, metaData.tool AS tool"
)


async def test_the_server_shows_which_tool_and_statement_a_transaction_is_of(
    tools: Toolset, server: Server, user_id: str
) -> None:
    key = await person(tools, "Ada")
    async with watch(server, user_id) as transactions, transactions.locked(key):
        call = asyncio.create_task(tools.update_node(entity_key=key, name="Ada Moss"))
        await transactions.until_blocked()
        rows = await transactions.driver.execute_query(TAGS_OF_OURS, {"watched": user_id})
    answer = await call
    assert answer["success"]
    assert [dict(row) for row in rows.records] == [
        {"app": "kgagent", "statement": "read_nodes", "tool": "update_node"}
    ]


async def test_a_statement_outside_tools_is_tagged_with_its_name_alone(
    graph: KnowledgeGraph,
) -> None:
    asking = Statement("SHOW TRANSACTIONS YIELD metaData RETURN metaData", "look_around")
    for look in (services_of(graph).store.read, services_of(graph).store.write):
        tags = [row["metaData"] for row in await look(asking, {})]
        assert {"app": "kgagent", "statement": "look_around"} in tags


async def test_streams_and_statements_about_the_schema_are_tagged_too(
    graph: KnowledgeGraph,
) -> None:
    asking = Statement("SHOW TRANSACTIONS YIELD metaData RETURN metaData", "look_around")
    async with services_of(graph).store.stream(asking, {}) as rows:
        streamed = [row["metaData"] async for row in rows]
    for tags in (
        streamed,
        [row["metaData"] for row in await services_of(graph).store.run_schema(asking)],
    ):
        assert {"app": "kgagent", "statement": "look_around"} in tags
