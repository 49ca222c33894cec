"""Verifies the requests of webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Any, Callable, Mapping, Sequence

from ._errors import SignatureError


def verify_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance: float = 300,
    now: Callable[[], float] = time.time,
) -> tuple[str, dict[str, Any]]:
    """
    Returns the `webhook-id` and the event. Ignore an id that you have processed: delivery is at least once.

    `body` is the raw body; `secret` is the webhook's (`whsec_...`), or several during a rotation. Raises
    SignatureError if a header is missing, the time is more than `tolerance` seconds from now, or no signature matches.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    webhook_id, timestamp, given = (_header(lower, f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise SignatureError("webhook-timestamp must be Unix seconds")
    if abs(now() - int(timestamp)) > tolerance:
        raise SignatureError(f"the request is more than {tolerance:g} s old, or from the future")
    message = f"{webhook_id}.{timestamp}.".encode("utf-8", "replace") + body
    signatures = given.encode("utf-8", "replace").split(b" ")
    for one in [secret] if isinstance(secret, str) else secret:
        expected = b"v1," + base64.b64encode(hmac.new(_key(one), message, hashlib.sha256).digest())
        if any(hmac.compare_digest(expected, signature) for signature in signatures):
            return webhook_id, json.loads(body)
    raise SignatureError("no signature of the request matches the secret")


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not value:
        raise SignatureError(f"the request has no header {name}")
    return value


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        key = b""
    if not key:
        raise ValueError("secret must be the secret of a webhook")
    return key
