"""A service whose answers a test chooses: HTTP answers, and WebSocket frames."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import struct
import threading
from typing import Any, Callable

_SUFFIX = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class FakeService:
    """Serves each connection with the next function of a list, one after another."""

    def __init__(self, *serve: Callable[["Connection"], None]) -> None:
        self.requests: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run, args=(serve,), daemon=True)
        self._thread.start()

    def _run(self, serve: tuple[Callable[["Connection"], None], ...]) -> None:
        for one in serve:
            plain, _ = self._listener.accept()
            with plain, plain.makefile("rwb") as stream:
                connection = Connection(stream)
                self.requests.append(connection.read_head())
                one(connection)
                stream.flush()
        self._listener.close()


class Connection:
    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._head: list[bytes] = []
        self.body = b""

    def read_head(self) -> str:
        while (line := self._stream.readline()) not in (b"\r\n", b""):
            self._head.append(line)
        length = self._header(b"content-length")
        if length:
            self.body = self._stream.read(int(length))
        return " ".join(self._head[0].decode().split()[:2])

    def answer(self, status: int, body: Any, **headers: str) -> None:
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.raw(status, text, {"Content-Length": str(len(text)), **headers})

    def raw(self, status: int, text: bytes, headers: dict[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} x", "Connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self._stream.write("\r\n".join(lines).encode() + b"\r\n\r\n" + text)

    def upgrade(self) -> None:
        nonce = self._header(b"sec-websocket-key") or b""
        accept = base64.b64encode(hashlib.sha1(nonce + _SUFFIX).digest()).decode()
        head = f"HTTP/1.1 101 x\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
        self._stream.write(head.encode())

    def send(self, *messages: Any) -> None:
        for message in messages:
            self.frame(0x1, json.dumps(message).encode())
        self._stream.flush()

    def frame(self, opcode: int, payload: bytes, last: bool = True) -> None:
        size = len(payload)
        first = (0x80 if last else 0) | opcode
        if size < 126:
            head = struct.pack("!BB", first, size)
        elif size < 65_536:
            head = struct.pack("!BBH", first, 126, size)
        else:
            head = struct.pack("!BBQ", first, 127, size)
        self._stream.write(head + payload)
        self._stream.flush()

    def receive(self) -> tuple[int, bytes]:
        """The next frame of the client."""
        first, second = self._stream.read(2)
        length = second & 0x7F
        assert second & 0x80, "a client masks each frame"
        if length == 126:
            (length,) = struct.unpack("!H", self._stream.read(2))
        mask = self._stream.read(4)
        data = self._stream.read(length)
        return first & 0x0F, bytes(byte ^ mask[index & 3] for index, byte in enumerate(data))

    def _header(self, name: bytes) -> bytes | None:
        for line in self._head:
            if line.lower().startswith(name + b":"):
                return line.split(b":", 1)[1].strip()
        return None
