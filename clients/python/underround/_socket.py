"""A minimal WebSocket client (RFC 6455): text messages, on the standard library."""

from __future__ import annotations

import base64
import hashlib
import http.client
import os
import socket
import ssl
import struct
import urllib.parse

from ._errors import ApiError, NoAnswerError

_ACCEPT_SUFFIX = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT, _CLOSE, _PING, _PONG = 0x1, 0x8, 0x9, 0xA
_MESSAGE_BYTES_MAX = 64 * 1024 * 1024
_ABNORMAL = 1006


class WebSocket:
    """One open connection. `receive` returns None when it has ended; `close_code` then says how."""

    def __init__(self, url: str, key: str, timeout: float) -> None:
        self.close_code = _ABNORMAL
        self.close_reason = ""
        parts = urllib.parse.urlsplit(url)
        secure = parts.scheme in ("https", "wss")
        host = parts.hostname or ""
        port = parts.port or (443 if secure else 80)
        try:
            plain = socket.create_connection((host, port), timeout)
            self._socket = (
                ssl.create_default_context().wrap_socket(plain, server_hostname=host) if secure else plain
            )
            self._reader = self._socket.makefile("rb")
            try:
                self._shake_hands(parts, key)
            except BaseException:
                self.close()
                raise
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswerError(f"no answer from {url}: {error}") from error

    def _shake_hands(self, parts: urllib.parse.SplitResult, key: str) -> None:
        nonce = base64.b64encode(os.urandom(16))
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        lines = [
            f"GET {target} HTTP/1.1",
            f"Host: {parts.netloc}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {nonce.decode()}",
            "Sec-WebSocket-Version: 13",
            f"Authorization: Bearer {key}",
        ]
        self._socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        _, _, status_text = self._reader.readline(65_536).decode("latin-1").partition(" ")
        if not status_text[:3].isdigit():
            raise http.client.BadStatusLine(status_text)
        status = int(status_text[:3])
        headers = http.client.parse_headers(self._reader)
        if status != 101:
            length = int(headers.get("content-length") or 0)
            text = self._reader.read(min(length, 65_536)).decode("utf-8", "replace")
            raise ApiError(status, headers, text)
        expected = base64.b64encode(hashlib.sha1(nonce + _ACCEPT_SUFFIX).digest()).decode()
        if headers.get("sec-websocket-accept") != expected:
            raise http.client.HTTPException("the answer is not that of a WebSocket server")

    def send(self, text: str) -> None:
        try:
            self._send(_TEXT, text.encode())
        except OSError as error:
            raise NoAnswerError(f"the connection was lost: {error}") from error

    def receive(self) -> str | None:
        """The next message; None at the end of the connection, also after `timeout` seconds of silence."""
        parts: list[bytes] = []
        size = 0
        try:
            while True:
                is_last, opcode, payload = self._frame(_MESSAGE_BYTES_MAX - size)
                if opcode == _PING:
                    self._send(_PONG, payload)
                elif opcode == _CLOSE:
                    if len(payload) >= 2:
                        self.close_code = struct.unpack("!H", payload[:2])[0]
                        self.close_reason = payload[2:].decode("utf-8", "replace")
                    self._send(_CLOSE, payload[:2])
                    return None
                elif opcode != _PONG:
                    parts.append(payload)
                    size += len(payload)
                    if is_last:
                        return b"".join(parts).decode()
        except (OSError, EOFError, ValueError):
            return None

    def close(self) -> None:
        try:
            self._reader.close()
            self._socket.close()
        except OSError:
            pass

    def _frame(self, bytes_max: int) -> tuple[bool, int, bytes]:
        first, second = self._read(2)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack("!H", self._read(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", self._read(8))
        if second & 0x80 or length > bytes_max:
            raise ValueError("a frame that no server may send")
        return bool(first & 0x80), first & 0x0F, self._read(length)

    def _read(self, count: int) -> bytes:
        data = self._reader.read(count)
        if len(data) < count:
            raise EOFError
        return data

    def _send(self, opcode: int, payload: bytes) -> None:
        """A client masks each frame."""
        size = len(payload)
        if size < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | size)
        elif size < 65_536:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, size)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[index & 3] for index, byte in enumerate(payload))
        self._socket.sendall(head + mask + masked)
