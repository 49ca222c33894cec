"""Requests with the key, repeated where that is safe."""

from __future__ import annotations

import http.client
import json
import random
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Callable, Iterable, Mapping, TypeVar

from ._errors import ApiError, NoAnswerError

T = TypeVar("T")
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 15.0
_NOT_JSON = "its answer is not JSON; is it the address of an Underround service, or does a proxy answer?"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect could send the key to another server."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Requests:
    """Sends requests to one service."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float | None,
        tries_max: int,
        wait_max: float,
        sleep: Callable[[float], None],
        chance: Callable[[], float],
    ) -> None:
        if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise ValueError(f"url {url} must be http or https")
        if not re.fullmatch(r"[\x21-\x7e]+", key):
            raise ValueError("key must be an API key of the service")
        self.url = url.rstrip("/")
        self.key = key
        self.timeout = timeout
        self.sleep = sleep
        self._tries_max = tries_max
        self._wait_max = wait_max
        self._chance = chance
        self._opener = urllib.request.build_opener(_NoRedirect)

    def pause(self, tries: int) -> float:
        """The pause before the try after `tries` failed ones, shortened at random by up to half."""
        return min(_FIRST_PAUSE_S * 2 ** (tries - 1), _LONGEST_PAUSE_S) * (1 - self._chance() / 2)

    def address(self, path: str, query: Mapping[str, Any] | None = None) -> str:
        given = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        return self.url + path + ("?" + urllib.parse.urlencode(given) if given else "")

    def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        body: Any,
        read: Callable[[http.client.HTTPResponse], T],
    ) -> T:
        """
        Sends one request and reads its answer with `read`. A read is repeated after 429, 5xx and lost connections; a
        write only after 429, which the service sends before it reads the request.
        """
        waited = 0.0
        tries = 0
        while True:
            tries += 1
            try:
                return self._try(method, self.address(path, query), body, read)
            except (ApiError, NoAnswerError) as error:
                delay = self._delay(method, error, tries)
                if delay is None or tries >= self._tries_max or waited + delay > self._wait_max:
                    raise
                self.sleep(delay)
                waited += delay

    def _try(self, method: str, address: str, body: Any, read: Callable[[http.client.HTTPResponse], T]) -> T:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.key}"}
        if data is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(address, data=data, headers=headers, method=method)
        try:
            return read(self._opener.open(request, timeout=self.timeout))
        except urllib.error.HTTPError as error:
            raise ApiError(error.code, error.headers, _text_of(error)) from None
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswerError(f"no answer from {self.url}: {error}") from error
        except ValueError as error:
            raise self.not_json() from error

    def not_json(self) -> NoAnswerError:
        return NoAnswerError(f"no answer from {self.url}: {_NOT_JSON}")

    def _delay(self, method: str, error: ApiError | NoAnswerError, tries: int) -> float | None:
        may_pass = error.code in ("no_answer", "unavailable") and method == "GET"
        if error.code != "rate_limited" and not may_pass:
            return None
        asked = error.retry_after if isinstance(error, ApiError) else None
        return self.pause(tries) if asked is None else asked


def _text_of(error: urllib.error.HTTPError) -> str:
    """The body of an error's answer; empty if it breaks off, because the status says enough."""
    try:
        with error:
            return error.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        return ""


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ",".join(map(_text, value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def default_sources() -> dict[str, Any]:
    return {"sleep": time.sleep, "chance": random.random}
