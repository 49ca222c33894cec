"""Streams as iterators that reconnect and continue where they were."""

from __future__ import annotations

import json
from typing import Any, Iterator, Mapping

from ._errors import ApiError, NoAnswerError, StreamError
from ._requests import Requests
from ._socket import WebSocket

#: Close codes after which the same would happen again.
_FINAL = frozenset({1000, 1003, 1007, 1008, 1009})
#: The service's reason for closing with 1008 a client that was asleep or busy: the stream continues.
_SILENT = "two pings without an answer"
#: The service sends a ping every 25 s: a connection that is silent for longer than this is dead.
_SILENCE_S_MAX = 60.0


def messages(
    requests: Requests,
    path: str,
    query: Mapping[str, Any],
    subscription: Mapping[str, Any] | None,
    cursor: str | None,
    connections_max: int,
) -> Iterator[dict[str, Any]]:
    """
    The messages of a stream. A lost connection is opened again, and continues after the last snapshot that the caller
    has handled.
    """
    failures = 0
    while True:
        failures += 1
        socket: WebSocket | None = None
        asked: float | None = None
        code, reason = 1006, ""
        try:
            socket = WebSocket(requests.address(path, query), requests.key, _SILENCE_S_MAX)
            while (text := socket.receive()) is not None:
                message = json.loads(text)
                kind = message["type"]
                if kind == "ping":
                    continue
                if kind == "ready":
                    failures = 0
                    if subscription is not None:
                        resume = {} if cursor is None else {"resume": cursor}
                        socket.send(json.dumps({"type": "subscribe", **subscription, **resume}))
                    continue
                if kind == "error":
                    raise StreamError(message["detail"], None)
                yield message
                # Only now: the caller has handled it.
                if kind == "snapshot":
                    cursor = message["cursor"]
                if kind == "end":
                    return
            code, reason = socket.close_code, socket.close_reason
        except NoAnswerError as error:
            reason = str(error)
        except ApiError as error:
            if error.code not in ("rate_limited", "unavailable"):
                raise
            asked, reason = error.retry_after, str(error)
        finally:
            if socket is not None:
                socket.close()
        if code in _FINAL and reason != _SILENT:
            raise StreamError(f"the service closed the stream: {reason or code}", code)
        if failures >= connections_max:
            raise NoAnswerError(f"{failures} connections to {requests.url} failed in a row: {reason or code}")
        requests.sleep(requests.pause(failures + 1) if asked is None else asked)
