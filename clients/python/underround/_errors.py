"""Errors that the client raises on purpose. Each has a `code` that says what the caller can do about it."""

from __future__ import annotations

import json
from typing import Any, Mapping

_CODES = {
    400: "invalid_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    409: "conflict",
    413: "too_large",
    422: "invalid_request",
    429: "rate_limited",
}


class UnderroundError(Exception):
    """Base of every error of this client."""

    code = "failed"


class ApiError(UnderroundError):
    """An answer other than a success."""

    def __init__(self, status: int, headers: Mapping[str, str], text: str) -> None:
        self.status = status
        #: The answer's body: parsed if it is JSON, else its text.
        self.body: Any = _parsed(text)
        detail = self.body.get("detail") if isinstance(self.body, dict) else None
        #: Each faulty field of the request; empty unless `status` is 422.
        self.problems: list[dict[str, Any]] = detail if isinstance(detail, list) else []
        #: The service's explanation.
        self.detail = _detail_of(status, detail)
        self.code = _CODES.get(status, "unavailable" if status >= 500 else "unexpected")
        #: Names the request in the service's log.
        self.request_id = headers.get("x-request-id")
        #: Seconds of `Retry-After`; None without one.
        self.retry_after = _seconds(headers.get("retry-after"))
        super().__init__(f"{self.detail} ({status})")


class NoAnswerError(UnderroundError):
    """The service did not answer, or its answer ended early."""

    code = "no_answer"


class StreamError(UnderroundError):
    """A stream that cannot continue. `close_code` is None if the service refused a command."""

    code = "stream_ended"

    def __init__(self, message: str, close_code: int | None) -> None:
        super().__init__(message)
        self.close_code = close_code


class SignatureError(UnderroundError):
    """A webhook's body that must not be trusted."""

    code = "bad_signature"


class BookGapError(UnderroundError):
    """A book that lacks a change. Start again from a whole book."""

    code = "book_gap"


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if seconds >= 0 else None


def _detail_of(status: int, detail: Any) -> str:
    if isinstance(detail, str):
        return detail
    if isinstance(detail, list):
        return "; ".join(f"{'.'.join(map(str, problem['loc'][1:]))}: {problem['msg']}" for problem in detail)
    return f"the service answered {status}"
