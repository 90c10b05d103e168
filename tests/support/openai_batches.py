"""OpenAI's files and batches, as the local server serves them; a batch goes on each time that a client looks at it."""

import json
import re
import threading
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from werkzeug import Request, Response

Body = dict[str, Any]
Answer = Callable[[Body], tuple[int, Body]]
"""Answers the request of one line: the status and the body."""

MAX_REQUESTS = 50_000


@dataclass(frozen=True)
class Ending:
    """How a batch ends.

    Attributes:
        status: its final status.
        done: how many of its requests are answered before that; None is all.
        errors: errors of the batch as a whole: code, message, line.
    """

    status: str = "completed"
    done: int | None = None
    errors: Sequence[tuple[str, str, int | None]] = ()


@dataclass
class ServedBatch:
    """A batch.

    Attributes:
        requests: the lines of its file.
        looks: how often a client has read its status.
        body: what a client reads.
    """

    requests: list[Body]
    ending: Ending
    body: Body
    looks: int = 0


@dataclass
class BatchService:
    """Files and batches of one account.

    Attributes:
        answer: answers a request of a batch.
        looks: how often a client reads the status of a batch before it ends.
        endings: how the next batches end; others are completed.
        files: content of each file by its id; deleted files are gone.
        batches: all batches by their id, the newest last.
        lost_replies: how many of the next batches are created without a reply.
        most_open: how many batches were under way together at the most.
    """

    answer: Answer
    looks: int = 1
    endings: deque[Ending] = field(default_factory=deque)
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, ServedBatch] = field(default_factory=dict)
    lost_replies: int = 0
    most_open: int = 0
    _guard: threading.Condition = field(default_factory=threading.Condition)

    def wait_for_look(self) -> None:
        """Block until a client has read the status of a batch.

        Raises:
            TimeoutError: none did within 60 s.
        """
        with self._guard:
            if not self._guard.wait_for(lambda: any(batch.looks for batch in self.batches.values()), 60.0):
                raise TimeoutError("No client has looked at a batch")

    def handle(self, request: Request) -> Response:
        """Answer a request to `/files` or `/batches`."""
        with self._guard:
            [(kind, one, content)] = re.findall(r"/v1/(files|batches)(?:/([^/]+))?(/content)?$", request.path)
            match request.method, kind, one:
                case "POST", "files", _:
                    return self._upload(request)
                case "POST", "batches", _:
                    return self._create(json.loads(request.get_data()))
                case "GET", "batches", _ if not one or one in self.batches:
                    newest = [batch.body for batch in reversed(self.batches.values())]
                    found = self._look(self.batches[one]) if one else {"object": "list", "data": newest}
                    return _json({**found, "has_more": False})
                case _, "files", _ if one in self.files:
                    if request.method == "GET" and content:
                        return Response(self.files[one], content_type="application/octet-stream")
                    del self.files[one]
                    return _json({"id": one, "object": "file", "deleted": True})
        return _json({"error": {"message": f"There is no {one}", "type": "error", "code": None}}, 404)

    def _upload(self, request: Request) -> Response:
        assert request.form["purpose"] == "batch"
        content = request.files["file"].read()
        return _json(self._file(content, "batch"))

    def _file(self, content: bytes, purpose: str) -> Body:
        file_id = f"file-{uuid.uuid4().hex}"
        self.files[file_id] = content
        return {
            "id": file_id,
            "object": "file",
            "bytes": len(content),
            "created_at": 1_700_000_000,
            "filename": f"{file_id}.jsonl",
            "purpose": purpose,
            "status": "processed",
        }

    def _create(self, asked: Body) -> Response:
        requests = [json.loads(line) for line in self.files[asked["input_file_id"]].splitlines()]
        assert (asked["endpoint"], asked["completion_window"]) == ("/v1/embeddings", "24h")
        assert {(one["method"], one["url"]) for one in requests} == {("POST", asked["endpoint"])}
        assert len({one["custom_id"] for one in requests}) == len(requests) <= MAX_REQUESTS
        batch_id = f"batch_{len(self.batches) + 1}"
        body = {
            "id": batch_id,
            "object": "batch",
            "created_at": 1_700_000_000,
            "status": "validating",
            "request_counts": {"total": len(requests), "completed": 0, "failed": 0},
            **asked,
        }
        ending = self.endings.popleft() if self.endings else Ending()
        self.batches[batch_id] = ServedBatch(requests, ending, body)
        under_way = [one for one in self.batches.values() if one.body["status"] in {"validating", "in_progress"}]
        self.most_open = max(self.most_open, len(under_way))
        if self.lost_replies:
            self.lost_replies -= 1
            return _json({"error": {"message": "lost", "type": "error", "code": None}}, 502)
        return _json(body)

    def _look(self, batch: ServedBatch) -> Body:
        batch.looks += 1
        self._guard.notify_all()
        if batch.body["status"] in {"validating", "in_progress"}:
            batch.body["status"] = "in_progress"
            if batch.looks > self.looks:
                self._end(batch)
        return batch.body

    def _end(self, batch: ServedBatch) -> None:
        ending, body = batch.ending, batch.body
        body["status"] = ending.status
        if ending.errors:
            keys = ("code", "message", "line")
            body["errors"] = {"object": "list", "data": [dict(zip(keys, one, strict=True)) for one in ending.errors]}
            return
        done = len(batch.requests) if ending.done is None else ending.done
        good: list[Body] = []
        bad: list[Body] = []
        for number, request in enumerate(batch.requests):
            line: Body = {"id": f"batch_req_{number}", "custom_id": request["custom_id"], "response": None}
            if number >= done:
                message = "This request could not be executed in time."
                bad.append({**line, "error": {"code": f"batch_{ending.status}", "message": message}})
                continue
            status, answer = self.answer(request["body"])
            answered = {**line, "response": {"status_code": status, "request_id": "r", "body": answer}, "error": None}
            (good if status == 200 else bad).append(answered)
        body["request_counts"] |= {"completed": len(good), "failed": len(bad)}
        # OpenAI does not keep the order of the requests.
        for name, lines in (("output_file_id", good[::-1]), ("error_file_id", bad)):
            if lines:
                content = "".join(json.dumps(one) + "\n" for one in lines).encode()
                body[name] = self._file(content, "batch_output")["id"]


def _json(body: object, code: int = 200) -> Response:
    return Response(json.dumps(body), code, content_type="application/json")
