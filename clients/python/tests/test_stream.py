"""Streams over the WebSocket client."""

import json
import struct
import unittest
from unittest.mock import patch

from fake_service import FakeService

from underround import ApiError, NoAnswerError, StreamError, Underround

READY = {"type": "ready"}


def snapshot(cursor):
    return {"type": "snapshot", "market_id": "x", "cursor": cursor}


def ending_after_subscription(sent):
    """A stream that ends at once; `sent` gets the subscription."""

    def serve(connection):
        connection.upgrade()
        connection.send(READY)
        sent.append(json.loads(connection.receive()[1]))
        connection.send({"type": "end"})

    return serve


class Streams(unittest.TestCase):
    def client(self, *serve):
        self.service = FakeService(*serve)
        self.pauses = []
        options = {"sleep": self.pauses.append, "chance": lambda: 0, "connections_max": 3}
        return Underround(self.service.url, "k", **options)

    def test_resumes_after_the_last_snapshot_that_was_handled(self):
        sent = []

        def first(connection):
            connection.upgrade()
            connection.send(READY)
            sent.append(json.loads(connection.receive()[1]))
            connection.send({"type": "ack"}, {"type": "ping"}, snapshot("c1"), snapshot("c2"))

        def second(connection):
            connection.upgrade()
            connection.send(READY)
            sent.append(json.loads(connection.receive()[1]))
            connection.send({"type": "ack", "resumed": True}, snapshot("c3"))

        seen = []
        for message in self.client(first, second).stream(tickers=["BTC"]):
            seen.append(message.get("cursor", message["type"]))
            if seen[-1] == "c3":
                break
        self.assertEqual(seen, ["ack", "c1", "c2", "ack", "c3"])
        subscribe = {"type": "subscribe", "tickers": ["BTC"]}
        self.assertEqual(sent, [subscribe, {**subscribe, "resume": "c2"}])
        self.assertEqual(self.pauses, [0.5])

    def test_continues_after_the_service_closed_it_because_a_message_took_long(self):
        sent = []

        def first(connection):
            connection.upgrade()
            connection.send(READY)
            connection.receive()
            connection.send(snapshot("c1"))
            connection.frame(0x8, struct.pack("!H", 1008) + b"two pings without an answer")
            connection.receive()

        def second(connection):
            connection.upgrade()
            connection.send(READY)
            sent.append(json.loads(connection.receive()[1]))
            connection.send({"type": "end"})

        messages = list(self.client(first, second).stream(tickers=["BTC"]))
        self.assertEqual([message["type"] for message in messages], ["snapshot", "end"])
        self.assertEqual(sent, [{"type": "subscribe", "tickers": ["BTC"], "resume": "c1"}])

    def test_reconnects_if_the_subscription_cannot_be_sent(self):
        def serve(connection):
            connection.upgrade()
            connection.send(READY, {"type": "end"})

        sends = []

        def broken(socket, text):
            sends.append(text)
            if len(sends) == 1:
                raise BrokenPipeError("Broken pipe")

        with patch("underround._socket.WebSocket._send", lambda socket, _, data: broken(socket, data)):
            messages = list(self.client(serve, serve).stream(tickers=["BTC"]))
        self.assertEqual(messages, [{"type": "end"}])
        self.assertEqual((len(sends), self.pauses), (2, [0.5]))

    def test_reads_every_kind_of_frame(self):
        texts = ["x" * 125, "x" * 126, "x" * 70_000, "ünï" * 1000]
        pongs = []

        def serve(connection):
            connection.upgrade()
            connection.send(READY)
            connection.receive()
            for text in texts:
                data = json.dumps({"type": "market", "text": text}, ensure_ascii=False).encode()
                # In two parts, with a ping between them.
                connection.frame(0x1, data[:50], last=False)
                connection.frame(0x9, b"are you there")
                connection.frame(0x0, data[50:])
                pongs.append(connection.receive())
            connection.send({"type": "end"})

        messages = list(self.client(serve).replay(market_ids=["x"], speed=0))
        self.assertEqual([message.get("text") for message in messages], [*texts, None])
        self.assertEqual(pongs, [(0xA, b"are you there")] * len(texts))
        self.assertEqual(self.service.requests, ["GET /v1/replay?speed=0"])

    def test_ends_with_an_error_that_would_be_the_same_again(self):
        def refused(connection):
            connection.upgrade()
            connection.send(READY, {"type": "error", "detail": "unknown ticker X"})

        def revoked(connection):
            connection.upgrade()
            connection.send(READY)
            connection.frame(0x8, struct.pack("!H", 1008) + b"key no longer permits this")
            connection.receive()

        for serve, code, text in [
            (refused, None, "unknown ticker X"),
            (revoked, 1008, "the service closed the stream: key no longer permits this"),
        ]:
            with self.subTest(text), self.assertRaises(StreamError) as raised:
                list(self.client(serve).stream(tickers=["X"]))
            self.assertEqual((raised.exception.close_code, str(raised.exception)), (code, text))

    def test_takes_one_name_for_a_list_of_it(self):
        sent = []
        list(self.client(ending_after_subscription(sent)).stream(tickers="BTC", event_types="5m"))
        self.assertEqual(sent, [{"type": "subscribe", "tickers": ["BTC"], "event_types": ["5m"]}])
        forbidden = lambda connection: connection.answer(403, {"detail": "Tier free"})  # noqa: E731
        with self.assertRaises(ApiError):
            list(self.client(forbidden).opportunities("BTC"))
        self.assertEqual(self.service.requests, ["GET /v1/arb/ws?ticker=BTC"])
        with self.assertRaises(ApiError):
            list(self.client(forbidden).opportunities({"BTC": 1}.keys()))
        self.assertEqual(self.service.requests, ["GET /v1/arb/ws?ticker=BTC"])

    def test_continues_where_an_earlier_process_ended(self):
        sent = []
        list(self.client(ending_after_subscription(sent)).stream(tickers=["BTC"], cursor="c7"))
        self.assertEqual(sent, [{"type": "subscribe", "tickers": ["BTC"], "resume": "c7"}])

    def test_raises_the_refusal_of_a_handshake(self):
        forbidden = lambda connection: connection.answer(403, {"detail": "Tier free"})  # noqa: E731
        with self.assertRaisesRegex(ApiError, "Tier free"):
            list(self.client(forbidden).opportunities(["BTC", "ETH"]))
        self.assertEqual(self.service.requests, ["GET /v1/arb/ws?ticker=BTC%2CETH"])
        busy = lambda connection: connection.answer(503, {"detail": "Busy"}, Retry_After="3")  # noqa: E731
        with self.assertRaisesRegex(NoAnswerError, "3 connections to .* failed in a row: Busy"):
            list(self.client(busy, busy, busy).stream(tickers=["BTC"]))
        self.assertEqual(self.pauses, [3.0, 3.0])

    def test_refuses_a_server_that_speaks_no_websocket(self):
        wrong = lambda connection: connection.raw(101, b"", {"Sec-WebSocket-Accept": "x"})  # noqa: E731
        with self.assertRaises(NoAnswerError):
            list(self.client(wrong, wrong, wrong).stream(tickers=["BTC"]))


if __name__ == "__main__":
    unittest.main()
