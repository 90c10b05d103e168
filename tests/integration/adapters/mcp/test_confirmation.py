"""Calls that remove something: whether the user is asked, and what happens with each answer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.types import (
    CallToolResult,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    InputRequiredResult,
    InputResponses,
)

from kgagent import KnowledgeGraph
from kgagent.adapters.mcp import HttpOptions, http_server
from kgagent.tools import Toolset
from tests.support.mcp_clients import MODES, Mode, over_http, text_of
from tests.support.payloads import succeeded
from tests.support.people import person, relate, two_friends

Action = Literal["accept", "decline", "cancel"]


class User:
    """The user of a client: what was asked, and what they answer.

    Attributes:
        questions: what was asked.
    """

    def __init__(self, action: Action = "accept") -> None:
        self._action = action
        self.questions: list[str] = []

    async def answer(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult | ErrorData:
        """Answer a question, which has no fields to fill in."""
        assert context.session is not None
        assert isinstance(params, ElicitRequestFormParams)
        assert params.requested_schema["properties"] == {}
        self.questions.append(params.message)
        return ElicitResult(action=self._action, content={} if self._action == "accept" else None)


@asynccontextmanager
async def client_of(
    graph: KnowledgeGraph, user_id: str, user: User | None, mode: Mode = "auto", **more: Any
) -> AsyncIterator[Client]:
    """A client whose user can be asked, or cannot."""
    options = HttpOptions(user_id=user_id, toolsets="all", **more)
    async with (
        http_server(graph, options) as running,
        over_http(running.url, mode=mode, asked=user.answer if user else None) as client,
    ):
        yield client


async def names(tools: Toolset) -> set[str]:
    """The names of the people that exist."""
    found = succeeded(await tools.explore(text_matches=["Ada", "Bo"], format="json"))
    return {node["name"] for node in found["nodes"]}


async def test_each_call_that_removes_something_names_it_and_is_confirmed(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    ends = await two_friends(tools, description="They row", notes=["Met at sea."])
    ada, bo = ends.values()
    double = await person(tools, "Ada\nMoss")
    await relate(tools, double, bo)
    calls: list[tuple[str, dict[str, Any], str]] = [
        (
            "delete_note",
            {**ends, "note": "Met"},
            'the note "Met at sea." on "Ada friend Bo"? It cannot be restored',
        ),
        (
            "delete_relationship",
            {"from_entity_key": "ada", "to_entity_key": "Bo"},
            'the relationship "Ada friend Bo: They row"? It can be undone for 36,500 days',
        ),
        (
            "merge_nodes",
            {"keep_entity_key": "Ada", "drop_entity_key": double},
            f"Person Ada Moss ({double[:12]}) into Person Ada ({ada[:12]})? It can be undone "
            "for 36,500 days",
        ),
        (
            "delete_node",
            {"entity_key": bo[:10], "delete_relationships": True},
            f"Person Bo ({bo[:12]}) and 1 relationship? It can be undone for 36,500 days",
        ),
    ]
    user = User()
    async with client_of(graph, user_id, user) as client:
        for name, arguments, _ in calls:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, text_of(result)
    verbs = ["Delete ", "Delete ", "Merge ", "Delete "]
    assert user.questions == [
        verb + asked for verb, (_, _, asked) in zip(verbs, calls, strict=True)
    ]
    assert await names(tools) == {"Ada"}


async def test_what_is_not_confirmed_changes_nothing(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    ends = await two_friends(tools)
    ada, bo = ends.values()
    user = User("decline")
    async with client_of(graph, user_id, user, structured=True) as client:
        for name, arguments in (
            ("delete_relationship", ends),
            ("merge_nodes", {"keep_entity_key": ada, "drop_entity_key": bo}),
            ("delete_node", {"entity_key": "Bo", "delete_relationships": True}),
        ):
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert result.structured_content is not None
            assert result.structured_content["success"] is False
            assert text_of(result).startswith(
                f"Error: Nothing was changed, because the user did not confirm (decline): "
                f"{user.questions[-1]}."
            )
    assert len(user.questions) == 3
    assert await names(tools) == {"Ada", "Bo"}
    succeeded(await tools.get_relationship(**ends))


@pytest.mark.parametrize("mode", MODES)
async def test_nobody_is_asked_about_other_calls_or_calls_that_fail(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, mode: Mode
) -> None:
    ends = await two_friends(tools)
    user = User()
    async with client_of(graph, user_id, user, mode) as client:
        for name, arguments, expected in (
            ("update_relationship", {**ends, "attitude": 5}, "Updated"),
            ("delete_node", {"entity_key": "Bo"}, "Error: Person Bo"),
            ("delete_node", {"entity_key": "Cy"}, "Error: Node not found: Cy"),
            ("delete_node", {"key": "Cy"}, "Error: "),
            ("delete_note", {"entity_key": "Bo", "note": "x"}, "Error: No note begins with 'x'"),
        ):
            result = await client.call_tool(name, arguments)
            assert text_of(result).startswith(expected)
    assert user.questions == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("asks", [False, True])
async def test_without_the_ability_or_with_the_option_calls_run_at_once(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, mode: Mode, *, asks: bool
) -> None:
    await two_friends(tools)
    user = User("decline") if asks else None
    async with client_of(graph, user_id, user, mode, confirm=not asks) as client:
        result = await client.call_tool(
            "delete_node", {"entity_key": "Bo", "delete_relationships": True}
        )
    assert not result.is_error
    assert user is None or user.questions == []
    assert await names(tools) == {"Ada"}


async def test_clients_of_earlier_revisions_are_not_asked(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await person(tools, "Bo Berg")
    modern, legacy = User("decline"), User("decline")
    async with client_of(graph, user_id, modern, "auto", stateless=True) as client:
        assert (await client.call_tool("delete_node", {"entity_key": "Bo Berg"})).is_error
    async with client_of(graph, user_id, legacy, "legacy", stateless=True) as client:
        assert not (await client.call_tool("delete_node", {"entity_key": "Bo Berg"})).is_error
    assert (len(modern.questions), len(legacy.questions)) == (1, 0)


async def test_another_process_takes_the_answer_and_an_answer_to_another_question_counts_for_nothing(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    ends = await two_friends(tools)
    bo = ends["to_entity_key"]
    yes: InputResponses = {"confirm": ElicitResult(action="accept", content={})}

    async def delete(
        client: Client, state: str | None = None
    ) -> CallToolResult | InputRequiredResult:
        arguments = {"entity_key": bo, "delete_relationships": True}
        return await client.session.call_tool(
            "delete_node",
            arguments,
            input_responses=yes if state else None,
            request_state=state,
            allow_input_required=True,
        )

    async with (
        client_of(graph, user_id, User(), stateless=True) as one,
        client_of(graph, user_id, User(), stateless=True) as other,
    ):
        first = await delete(one)
        assert isinstance(first, InputRequiredResult)
        assert isinstance(await delete(other, "0" * 64), InputRequiredResult)
        await relate(tools, bo, await person(tools, "Cy"))
        changed = await delete(other, first.request_state)
        assert isinstance(changed, InputRequiredResult)
        assert changed.request_state != first.request_state
        assert await names(tools) == {"Ada", "Bo"}
        assert isinstance(await delete(other, changed.request_state), CallToolResult)
    assert await names(tools) == {"Ada"}
