"""Requests, pages, exports and errors."""

import datetime
import sys
import types
import unittest
from unittest import mock

from fake_service import FakeService

from underround import ApiError, NoAnswerError, Underround


class Rig(unittest.TestCase):
    def client(self, *serve, **options):
        self.service = FakeService(*serve)
        self.pauses = []
        return Underround(self.service.url, "k", sleep=self.pauses.append, chance=lambda: 0, **options)


def answer(status, body, **headers):
    return lambda connection: connection.answer(status, body, **headers)


def broken(connection):
    connection.raw(200, b'{"a"', {"Content-Length": "100"})


LIMITED = answer(429, {"detail": "Too many"}, Retry_After="7")
BUSY = answer(503, {"detail": "Busy"})


class Calls(Rig):
    def test_fills_path_and_query(self):
        client = self.client(answer(200, {"market_id": "x"}))
        at = datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.timezone.utc)
        self.assertEqual(client.book("a/../b", at), {"market_id": "x"})
        path = "/v1/markets/a%2F..%2Fb/orderbook?at=2026-11-20T12%3A00%3A00%2B00%3A00"
        self.assertEqual(self.service.requests, [f"GET {path}"])

    def test_sends_lists_as_the_service_reads_them(self):
        client = self.client(answer(200, {"count": 0}))
        client.call("GET", "/v1/arb/live", query={"tickers": ["BTC", "ETH"], "event_types": ("5m",), "limit": 0})
        path = "/v1/arb/live?tickers=BTC%2CETH&event_types=5m&limit=0"
        self.assertEqual(self.service.requests, [f"GET {path}"])

    def test_raises_typed_errors(self):
        problem = {"type": "missing", "loc": ["query", "market_id"], "msg": "Field required"}
        cases = [
            (401, {"detail": "Unknown API key"}, "unauthorized", "Unknown API key (401)"),
            (404, {"detail": "No such market"}, "not_found", "No such market (404)"),
            (422, {"detail": [problem]}, "invalid_request", "market_id: Field required (422)"),
            (418, b"<h1>", "unexpected", "the service answered 418 (418)"),
        ]
        for status, body, code, text in cases:
            with self.subTest(status), self.assertRaises(ApiError) as raised:
                self.client(answer(status, body, X_Request_Id="req_1")).market("x")
            error = raised.exception
            self.assertEqual((error.status, error.code, str(error)), (status, code, text))
            self.assertEqual(error.request_id, "req_1")
            self.assertEqual(error.problems, [problem] if status == 422 else [])

    def test_repeats_reads_after_retry_after_and_growing_pauses(self):
        client = self.client(LIMITED, BUSY, broken, answer(200, {"market_id": "x"}))
        self.assertEqual(client.market("x"), {"market_id": "x"})
        self.assertEqual(self.pauses, [7.0, 1.0, 2.0])

    def test_repeats_a_read_whose_answer_is_cut_or_not_of_the_service(self):
        cut = lambda connection: connection.raw(503, b"{", {"Content-Length": "99"})  # noqa: E731
        page = answer(200, b"<html>Welcome to the hotel</html>")
        client = self.client(cut, page, answer(200, {"market_id": "x"}))
        self.assertEqual(client.market("x"), {"market_id": "x"})
        self.assertEqual(self.pauses, [0.5, 1.0])
        reason = "its answer is not JSON; is it the address of an Underround service, or does a proxy answer?"
        with self.assertRaises(NoAnswerError) as raised:
            self.client(page, tries_max=1).market("x")
        self.assertEqual(str(raised.exception), f"no answer from {self.service.url}: {reason}")

    def test_gives_up(self):
        with self.assertRaisesRegex(ApiError, "Busy"):
            self.client(*[BUSY] * 5).market("x")
        self.assertEqual(self.pauses, [0.5, 1.0, 2.0, 4.0])
        with self.assertRaisesRegex(ApiError, "Wait"):
            self.client(*[answer(503, {"detail": "Wait"}, Retry_After="40")] * 2).market("x")
        self.assertEqual(self.pauses, [40.0])

    def test_repeats_a_write_only_if_it_was_refused_unread(self):
        with self.assertRaises(NoAnswerError):
            self.client(broken).call("POST", "/v1/backtest", body={})
        self.assertEqual(self.pauses, [])
        client = self.client(LIMITED, answer(201, {"job_id": "bt_1"}))
        self.assertEqual(client.call("POST", "/v1/backtest", body={"a": 1}), {"job_id": "bt_1"})

    def test_follows_no_redirect_with_the_key(self):
        with self.assertRaises(ApiError) as raised:
            self.client(answer(302, b"", Location="http://127.0.0.1:1/")).market("x")
        self.assertEqual(raised.exception.status, 302)

    def test_needs_an_address_and_a_key(self):
        for url, key in [("ftp://x", "k"), ("http://x", "a\nb"), ("http://x", "")]:
            with self.subTest(url=url, key=key), self.assertRaises(ValueError):
                Underround(url, key)


class _Columns(dict):
    """The part of a pandas DataFrame that the client uses."""

    columns = property(dict.keys)


class Iterators(Rig):
    def test_reads_page_after_page(self):
        pages = [{"trades": [1, 2], "next_cursor": "c/1"}, {"trades": [3], "next_cursor": None}]
        client = self.client(*[answer(200, page) for page in pages])
        self.assertEqual(list(client.trades("x", limit=2)), [1, 2, 3])
        base = "GET /v1/trades?market_id=x&limit=2"
        self.assertEqual(self.service.requests, [base, f"{base}&cursor=c%2F1"])

    def test_reads_a_list_that_has_no_pages(self):
        client = self.client(answer(200, {"strategies": [{"name": "a"}]}))
        self.assertEqual(list(client.rows("/v1/paper/strategies")), [{"name": "a"}])

    def test_reads_exports_as_they_arrive_and_sees_when_they_break_off(self):
        whole = b'9\r\n{"a":1}\n{\r\n7\r\n"a":2}\n\r\n0\r\n\r\n'
        chunked = {"Transfer-Encoding": "chunked"}
        client = self.client(lambda connection: connection.raw(200, whole, chunked))
        self.assertEqual(list(client.export_rows("trades", market_id="x")), [{"a": 1}, {"a": 2}])
        self.assertEqual(
            self.service.requests, ["GET /v1/export?dataset=trades&market_id=x&format=jsonl"]
        )
        for cut in (whole[:20], whole[:12], whole[:-5]):
            with self.subTest(cut), self.assertRaises(NoAnswerError):
                list(self.client(lambda connection: connection.raw(200, cut, chunked)).export_rows("trades"))

    def test_asks_for_the_address_when_an_export_is_a_page_of_a_proxy(self):
        with self.assertRaisesRegex(NoAnswerError, "its answer is not JSON; is it the address"):
            list(self.client(answer(200, b"<html>\n</html>\n")).export_rows("trades"))

    def test_reads_exports_as_frames_whose_times_are_timestamps(self):
        class Frame(_Columns):
            @classmethod
            def from_records(cls, rows):
                return cls({name: [row[name] for row in rows] for name in rows[0]})

        def to_datetime(column, *, utc, format):
            return [(text, utc, format) for text in column]

        gap = b'{"market_id":"x","start":"t1","end":null,"cause":"end","seq":1}\n'
        with mock.patch.dict(sys.modules, pandas=types.SimpleNamespace(DataFrame=Frame, to_datetime=to_datetime)):
            frame = self.client(answer(200, gap)).export_frame("gaps")
        times = {"start": [("t1", True, "ISO8601")], "end": [(None, True, "ISO8601")]}
        self.assertEqual(frame, {"market_id": ["x"], "cause": ["end"], "seq": [1], **times})

    def test_reads_an_export_without_rows_as_a_frame_with_its_columns(self):
        pandas = types.SimpleNamespace(
            DataFrame=lambda columns: _Columns({name: [] for name in columns}),
            to_datetime=lambda column, *, utc, format: [*column, utc],
        )
        manifest = answer(200, {"rows": 0, "columns": [{"name": "ts"}, {"name": "price"}]})
        with mock.patch.dict(sys.modules, pandas=pandas):
            frame = self.client(answer(200, b""), manifest).export_frame("trades", market_id="x")
        self.assertEqual(frame, {"ts": [True], "price": []})
        query = "dataset=trades&market_id=x"
        requests = [f"GET /v1/export?{query}&format=jsonl", f"GET /v1/export/manifest?{query}"]
        self.assertEqual(self.service.requests, requests)

    def test_sees_when_a_table_breaks_off(self):
        parquet = types.SimpleNamespace(read_table=lambda data: data)
        pyarrow = types.SimpleNamespace(BufferReader=lambda data: data, parquet=parquet)
        with mock.patch.dict(sys.modules, {"pyarrow": pyarrow, "pyarrow.parquet": parquet}):
            self.assertEqual(self.client(answer(200, b"PAR1")).export_table("trades"), b"PAR1")
            chunked = {"Transfer-Encoding": "chunked"}
            for body, headers in ((b"4\r\nPAR", chunked), (b"PAR", {"Content-Length": "4"})):
                with self.subTest(headers), self.assertRaisesRegex(NoAnswerError, "the answer ended early"):
                    cut = lambda connection: connection.raw(200, body, headers)  # noqa: E731,B023
                    self.client(cut).export_table("trades")

    def test_waits_for_a_backtest(self):
        jobs = [answer(200, {"job_id": "bt_1", "status": status}) for status in ("queued", "running", "failed")]
        progress = []
        job = self.client(answer(201, {"job_id": "bt_1"}), *jobs).backtest({}, progress.append)
        self.assertEqual(job["status"], "failed")
        self.assertEqual([one["status"] for one in progress], ["queued", "running"])
        self.assertEqual(self.pauses, [1.0, 1.0])

    def test_names_the_backtest_whose_result_it_could_not_wait_for(self):
        with self.assertRaisesRegex(ApiError, r"^Busy \(503\), of job bt_1$"):
            self.client(answer(201, {"job_id": "bt_1"}), *[BUSY] * 5).backtest({})
        with self.assertRaisesRegex(ApiError, r"^Busy \(503\)$"):
            self.client(BUSY).backtest({})


if __name__ == "__main__":
    unittest.main()
