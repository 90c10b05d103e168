"""Two stateless processes, and clients each of whose requests goes to the other one."""

import json
import sys
import uuid
from pathlib import Path

import pytest
from _round_robin import process
from mcp_round_robin import MODES, run

from kgagent.private_files import write_private_file

CALLS = 44


@pytest.mark.skipif(
    sys.platform == "win32", reason="a process of a group of its own cannot be interrupted alone"
)
async def test_any_client_is_served_by_two_processes_in_turn(
    environment: dict[str, str], tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens.json"
    users = {uuid.uuid4().hex * 2: f"user-{uuid.uuid4()}" for _ in MODES}
    write_private_file(tokens, json.dumps(users))
    async with (
        process(environment, tmp_path, tokens) as one,
        process(environment, tmp_path, tokens) as other,
    ):
        outcome = await run([one, other], list(users), CALLS, seconds=600)
    assert dict(outcome.errors) == {}
    assert outcome.calls >= CALLS
    for calls in outcome.seconds.values():
        assert len(calls) >= CALLS // 4
    first, second = outcome.served.values()
    assert abs(first - second) <= len(users)
    assert first + second >= outcome.calls
