"""A local server with OpenAI's chat completions and responses, whose model says what a test has
written for it.

Like OpenAI it refuses functions whose schema is not strict where they say that it is.
"""

import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

API_KEY = "sk-test-model"
PROMPT_TOKENS, ANSWER_TOKENS = 1_000, 100
TOKENS = PROMPT_TOKENS + ANSWER_TOKENS
"""What each chat completion says that it took."""

Body = dict[str, Any]
Calls = Sequence[tuple[str, Body | str]]
Turn = Callable[[list[Body]], Calls | str | Response]
"""What the model says, from the answers of all tools so far: calls (name and arguments), or the
last word.

Arguments that are text go out as they are; a response is sent in place of an answer.
"""

ALLOWED = {
    *(
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "anyOf",
        "$ref",
        "$defs",
        "enum",
        "const",
    ),
    *("description", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minItems", "maxItems"),
}


@dataclass
class ScriptedModel:
    """The server.

    Attributes:
        base_url: what the SDK's client is given.
        turns: what the model says, one turn a request.
        requests: the bodies that came in.
    """

    base_url: str
    turns: Iterator[Turn]
    requests: list[Body] = field(default_factory=list)

    def chat(self, request: Request) -> Response:
        """Answer `POST /v1/chat/completions`."""
        body = self._body(request)
        if wrong := [
            wrong for tool in body.get("tools", ()) for wrong in refusals(tool["function"])
        ]:
            return _refused(wrong)
        outputs = [_decoded(m["content"]) for m in body["messages"] if m["role"] == "tool"]
        said = next(self.turns)(outputs)
        if isinstance(said, Response):
            return said
        return completion(said, "stop" if isinstance(said, str) else "tool_calls")

    def responses(self, request: Request) -> Response:
        """Answer `POST /v1/responses`."""
        body = self._body(request)
        if wrong := [wrong for tool in body["tools"] for wrong in refusals(tool)]:
            return _refused(wrong)
        given = body["input"] if isinstance(body["input"], list) else []
        outputs = [
            _decoded(item["output"]) for item in given if item.get("type") == "function_call_output"
        ]
        said = next(self.turns)(outputs)
        if isinstance(said, Response):
            return said
        if isinstance(said, str):
            content = [{"type": "output_text", "text": said, "annotations": []}]
            output: list[Body] = [
                {
                    "type": "message",
                    "id": "m",
                    "role": "assistant",
                    "status": "completed",
                    "content": content,
                }
            ]
        else:
            output = [
                {
                    "type": "function_call",
                    "id": f"fc_{len(self.requests)}_{place}",
                    "call_id": f"call_{len(self.requests)}_{place}",
                    "name": name,
                    "arguments": _written(arguments),
                    "status": "completed",
                }
                for place, (name, arguments) in enumerate(said)
            ]
        return _json(
            {
                **{
                    "id": "r",
                    "object": "response",
                    "created_at": 0,
                    "model": "scripted",
                    "status": "completed",
                },
                **{
                    "output": output,
                    "tools": [],
                    "tool_choice": "auto",
                    "parallel_tool_calls": True,
                },
            }
        )

    def _body(self, request: Request) -> Body:
        assert request.headers["Authorization"] == f"Bearer {API_KEY}"
        body = json.loads(request.get_data())
        assert isinstance(body, dict)
        self.requests.append(body)
        return body


@contextmanager
def scripted_model(*turns: Turn) -> Iterator[ScriptedModel]:
    """Serve a model that says these turns, one for each request."""
    with _served(iter(turns)) as model:
        yield model


@contextmanager
def deciding_model(turn: Turn) -> Iterator[ScriptedModel]:
    """Serve a model that decides anew at each request what it says."""
    with _served(repeat(turn)) as model:
        yield model


@contextmanager
def _served(turns: Iterator[Turn]) -> Iterator[ScriptedModel]:
    with HTTPServer(host="127.0.0.1", threaded=True) as http:
        model = ScriptedModel(str(http.url_for("/v1")), turns)
        http.expect_request(
            re.compile(r"/v1/chat/completions$"), method="POST"
        ).respond_with_handler(model.chat)
        http.expect_request(re.compile(r"/v1/responses$"), method="POST").respond_with_handler(
            model.responses
        )
        yield model


def refusals(function: Mapping[str, Any]) -> list[str]:
    """What OpenAI would refuse a function for."""
    said = []
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", function["name"]):
        said.append("name")
    if len(function["description"]) > 1024:
        said.append(f"{function['name']}: description of {len(function['description'])} characters")
    if function.get("strict"):
        root = function["parameters"]
        said += [f"{function['name']}: {wrong}" for wrong in not_strict(root, root)]
        if root.get("type") != "object":
            said.append(f"{function['name']}: root is no object")
    return said


def not_strict(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[str]:
    """Where a schema is not strict."""
    yield from _wrong_here(schema, root)
    parts = [
        *schema.get("properties", {}).values(),
        *schema.get("$defs", {}).values(),
        *schema.get("anyOf", ()),
    ]
    for part in [*parts, *([schema["items"]] if "items" in schema else [])]:
        if not part.keys() & {"type", "anyOf", "$ref", "enum", "const"}:
            yield "a value of any type"
        yield from not_strict(part, root)


def _wrong_here(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[str]:
    if foreign := schema.keys() - ALLOWED:
        yield f"keywords {foreign}"
    if "$ref" in schema and schema.keys() - {"$ref"}:
        yield "$ref with something beside it"
    if "$ref" in schema and schema["$ref"].removeprefix("#/$defs/") not in root.get("$defs", {}):
        yield f"{schema['$ref']} leads nowhere"
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        yield "additionalProperties is not false"
    if schema.get("type") == "object" and set(schema.get("required", ())) != set(
        schema["properties"]
    ):
        yield "not every property is required"
    if schema.get("type") == "array" and "items" not in schema:
        yield "a list of anything"


def _decoded(answer: str) -> Body:
    """A tool's answer; text is returned as `text`."""
    try:
        decoded = json.loads(answer)
    except ValueError:
        return {"text": answer}
    assert isinstance(decoded, dict)
    return decoded


def _written(arguments: Body | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def completion(said: Calls | str, finish_reason: str) -> Response:
    """A chat completion that says why it ended."""
    message: Body = {"role": "assistant", "content": said if isinstance(said, str) else None}
    if not isinstance(said, str):
        message["tool_calls"] = [
            {
                "id": f"call_{uuid.uuid4().hex}",
                "type": "function",
                "function": {"name": name, "arguments": _written(arguments)},
            }
            for name, arguments in said
        ]
    choice = {"index": 0, "finish_reason": finish_reason, "message": message, "logprobs": None}
    usage = {
        "prompt_tokens": PROMPT_TOKENS,
        "completion_tokens": ANSWER_TOKENS,
        "total_tokens": TOKENS,
    }
    return _json(
        {
            **{"id": "c", "object": "chat.completion", "created": 0, "model": "scripted"},
            **{"choices": [choice], "usage": usage},
        }
    )


def broken(status: int = 500) -> Response:
    """A server that fails."""
    return _json(
        {"error": {"message": "out of order", "type": "server_error", "code": None}}, status
    )


def refused(message: str, code: str | None = None, status: int = 400) -> Response:
    """A provider that does not take the request."""
    return _json(
        {"error": {"message": message, "type": "invalid_request_error", "code": code}}, status
    )


def _refused(wrong: list[str]) -> Response:
    return _json(
        {"error": {"message": "; ".join(wrong), "type": "invalid_request_error", "code": None}}, 400
    )


def _json(body: object, status: int = 200) -> Response:
    return Response(json.dumps(body), status, content_type="application/json")
