"""Books and webhooks: nothing here uses the network."""

import base64
import hashlib
import hmac
import unittest

from underround import BookGapError, LiveBooks, SignatureError, books_of, verify_webhook

SECRET = "whsec_" + base64.b64encode(b"a secret of twenty-four b").decode()
OLDER = "whsec_" + base64.b64encode(b"the secret before that one").decode()
BODY = '{"market_id":"x","question":"Ünïcode?"}'.encode()
NOW = 1_795_176_000


def row(**more):
    base = {"market_id": "x", "ts": "t1", "trusted": True, "token": "yes", "side": "bid", "seq": 1}
    return {**base, "price": 0.5, "size": 1, "is_snapshot": False, **more}


class Books(unittest.TestCase):
    def test_makes_one_book_for_each_state(self):
        rows = [
            row(is_snapshot=True, price=0.4, size=2),
            row(is_snapshot=True),
            row(is_snapshot=True, side="ask", price=0.6, size=3),
            row(seq=4, size=0),
            row(seq=4, token="no", side="ask", price=0.7, size=5),
        ]
        first, second = books_of(rows)
        self.assertEqual((first.yes_bids, first.yes_asks), ([(0.5, 1), (0.4, 2)], [(0.6, 3)]))
        self.assertEqual((second.yes_bids, second.no_asks, second.seq), ([(0.4, 2)], [(0.7, 5)], 4))

    def test_refuses_rows_that_lack_changes(self):
        whole = row(is_snapshot=True, seq=5)
        for rows, text in [
            ([row()], "begin at seq 1 without a whole book"),
            ([whole, row(seq=4)], "seq 4 at t1 follows seq 5 at t1"),
            ([whole, row(seq=6, price=0.3, size=0)], "removes a level at 0.3 that does not exist"),
            ([whole, row(seq=6, market_id="y")], "changes of two markets: x and y"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(BookGapError, text):
                list(books_of(rows))

    def test_knows_which_live_books_are_trusted(self):
        books, trust = LiveBooks(), []
        gap = {"type": "gap", "market_id": "x", "gap_id": "g"}
        snapshot = {"type": "snapshot", "market_id": "x"}
        for message in [
            {**snapshot, "trusted": True},
            {**gap, "state": "open"},
            {**gap, "state": "closed"},
            {**snapshot, "trusted": False},
        ]:
            books.apply(message)
            trust.append(books.is_trusted("x"))
        self.assertEqual(trust, [True, False, True, False])
        books.apply({"type": "ack", "resumed": False})
        self.assertTrue(books.missed_changes)

    def test_releases_the_books_of_resolved_markets(self):
        books, ids = LiveBooks(), [f"0x{index}" for index in range(102)]
        for market_id in ids:
            snapshot = {"type": "snapshot", "market_id": market_id, "trusted": True}
            books.apply(snapshot)
            books.apply({"type": "market", "market_id": market_id, "status": "resolved"})
            # The venue may still change it for a moment.
            books.apply(snapshot)
        self.assertEqual([one for one in ids if books.book(one) is None], ["0x0", "0x1"])

    def test_releases_the_books_of_markets_that_ended_without_a_connection(self):
        books, again = LiveBooks(), {"type": "ack", "resumed": False}
        ended, live = ({"type": "snapshot", "market_id": one, "trusted": True} for one in ("a", "b"))
        for message in [ended, live, again, live]:
            books.apply(message)
        self.assertEqual((books.book("a"), books.book("b")), (ended, live))
        books.apply(again)
        self.assertEqual((books.book("a"), books.book("b")), (None, live))

    def test_trusts_the_next_book_after_a_connection_that_could_not_resume(self):
        books, trust = LiveBooks(), []
        again = {"type": "ack", "resumed": False}
        gap = {"type": "gap", "market_id": "x", "gap_id": "g", "state": "open"}
        snapshot = {"type": "snapshot", "market_id": "x", "trusted": True}
        # The first gap closes while there is no connection; the second one is open.
        for message in [snapshot, gap, again, snapshot, again, snapshot, gap]:
            books.apply(message)
            trust.append(books.is_trusted("x"))
        self.assertEqual(trust, [True, False, False, True, False, True, False])
        self.assertEqual(books.book("x"), snapshot)


class Webhooks(unittest.TestCase):
    def headers(self, secret=SECRET, after=0):
        key = base64.b64decode(secret.removeprefix("whsec_"))
        digest = hmac.new(key, f"msg_1.{NOW + after}.".encode() + BODY, hashlib.sha256).digest()
        signature = "v1," + base64.b64encode(digest).decode()
        return {"Webhook-Id": "msg_1", "webhook-timestamp": str(NOW + after), "webhook-signature": signature}

    def verify(self, headers, body=BODY, secret=(SECRET, OLDER)):
        return verify_webhook(body, headers, secret, now=lambda: NOW)

    def test_returns_the_event(self):
        event = {"market_id": "x", "question": "Ünïcode?"}
        self.assertEqual(self.verify(self.headers()), ("msg_1", event))
        several = {**self.headers(), "webhook-signature": "v1,AAAA v2,é " + self.headers(OLDER)["webhook-signature"]}
        self.assertEqual(self.verify(several), ("msg_1", event))

    def test_refuses_everything_else(self):
        good = self.headers()
        for headers, body, text in [
            (good, BODY + b" ", "no signature"),
            ({**good, "webhook-signature": "v1,é"}, BODY, "no signature"),
            (self.headers(after=-301), BODY, "more than 300 s old"),
            (self.headers(after=301), BODY, "from the future"),
            ({**good, "webhook-timestamp": "١٢"}, BODY, "must be Unix seconds"),
            ({**good, "webhook-signature": ""}, BODY, "no header webhook-signature"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(SignatureError, text):
                self.verify(headers, body)
        with self.assertRaises(ValueError):
            self.verify(good, secret="%")


if __name__ == "__main__":
    unittest.main()
