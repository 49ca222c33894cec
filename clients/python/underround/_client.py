"""The client of one service."""

from __future__ import annotations

import http.client
import json
import urllib.parse
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence

from ._errors import NoAnswerError, UnderroundError
from ._requests import Requests, default_sources
from ._stream import messages

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from ._types import BacktestJob, Gap, Market, Orderbook, Snapshot, Trade

_JOB_POLL_S = 1.0
_READ_BYTES = 256 * 1024
_UNFINISHED = ("queued", "running")
#: Columns of exports that are times, in any dataset.
EXPORT_TIMES = frozenset(
    """
    ts timestamp received_at engine_time start_time end_time resolved_at strike_known_time close_known_time
    confirmed_time rules_read_time recorded_since start end start_received end_received known_time detected_at
    decided_at opened_at closed_at
    """.split()
)


class Underround:
    """Reads one service. It holds no connection: streams and iterators end with their loops."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float | None = 90,
        tries_max: int = 5,
        wait_max: float = 60,
        connections_max: int = 10,
        sleep: Callable[[float], None] | None = None,
        chance: Callable[[], float] | None = None,
    ) -> None:
        """
        `timeout`: seconds without a byte after which a request has failed (None: never). `tries_max`, `wait_max`: most
        tries of one request, and the longest total pause between them in seconds. `connections_max`: failed connections
        in a row after which a stream gives up. `sleep` and `chance` replace the machine's clock and randomness in tests.
        """
        sources = default_sources()
        self._requests = Requests(
            url,
            key,
            timeout=timeout,
            tries_max=tries_max,
            wait_max=wait_max,
            sleep=sleep or sources["sleep"],
            chance=chance or sources["chance"],
        )
        self._connections_max = connections_max

    def call(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Any:
        """Calls any operation of the API, e.g. `client.call("GET", "/v1/gaps", query={"market_id": id})`."""

        def read(response: http.client.HTTPResponse) -> Any:
            with response:
                data = response.read()
            return json.loads(data) if data else None

        return self._requests.call(method, path, query, body, read)

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """The pages of a list, or the one of a list without pages. `limit` is the size of a page."""
        cursor: str | None = None
        while True:
            page = self.call("GET", path, query=query if cursor is None else {**query, "cursor": cursor})
            yield page
            cursor = page.get("next_cursor")
            if cursor is None:
                return

    def rows(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """The rows of a list, over all of its pages."""
        for page in self.pages(path, **query):
            yield from next(value for value in page.values() if isinstance(value, list))

    def markets(self, **query: Any) -> Iterator[Market]:
        """Markets, newest end first: `ticker`, `event_type`, `status`, `since`, `until`."""
        return self.rows("/v1/markets", **query)  # type: ignore[return-value]

    def market(self, market_id: str) -> Market:
        return self.call("GET", f"/v1/markets/{_quoted(market_id)}")

    def book(self, market_id: str, at: Any = None) -> Orderbook:
        """The newest book, or the one in force at a time."""
        return self.call("GET", f"/v1/markets/{_quoted(market_id)}/orderbook", query={"at": at})

    def snapshots(self, market_id: str, **query: Any) -> Iterator[Snapshot]:
        """Every book change of a market."""
        return self.rows("/v1/snapshots", market_id=market_id, **query)  # type: ignore[return-value]

    def trades(self, market_id: str, **query: Any) -> Iterator[Trade]:
        return self.rows("/v1/trades", market_id=market_id, **query)  # type: ignore[return-value]

    def gaps(self, market_id: str, **query: Any) -> Iterator[Gap]:
        return self.rows("/v1/gaps", market_id=market_id, **query)  # type: ignore[return-value]

    def export_rows(self, dataset: str, **query: Any) -> Iterator[dict[str, Any]]:
        """
        A whole recording as one streamed answer: faster than pages. An answer that breaks off raises NoAnswerError; it
        is not repeated, because rows were already given out.
        """
        with self._export(dataset, "jsonl", query) as response:
            for line in _lines(response):
                try:
                    row = json.loads(line)
                except ValueError as error:
                    raise self._requests.not_json() from error
                yield row

    def export_frame(self, dataset: str, **query: Any) -> pandas.DataFrame:
        """
        The rows of an export as a pandas DataFrame, which has its columns also without rows; times are UTC timestamps.
        Needs pandas.
        """
        import pandas

        rows = list(self.export_rows(dataset, **query))
        if rows:
            frame = pandas.DataFrame.from_records(rows)
        else:
            manifest = self.call("GET", "/v1/export/manifest", query={"dataset": dataset, **query})
            frame = pandas.DataFrame(columns=[column["name"] for column in manifest["columns"]])
        for name in EXPORT_TIMES.intersection(frame.columns):
            frame[name] = pandas.to_datetime(frame[name], utc=True, format="ISO8601")
        return frame

    def export_table(self, dataset: str, **query: Any) -> pyarrow.Table:
        """An export as an Arrow table, from Parquet. Needs pyarrow."""
        import pyarrow
        import pyarrow.parquet

        with self._export(dataset, "parquet", query) as response:
            try:
                data = response.read()
            except (OSError, http.client.HTTPException) as error:
                raise NoAnswerError(f"the answer ended early: {error}") from error
        return pyarrow.parquet.read_table(pyarrow.BufferReader(data))

    def _export(self, dataset: str, kind: str, query: Mapping[str, Any]) -> http.client.HTTPResponse:
        asked = {"dataset": dataset, **query, "format": kind}
        return self._requests.call("GET", "/v1/export", asked, None, lambda response: response)

    def backtest(
        self, body: Mapping[str, Any], on_progress: Callable[[BacktestJob], None] | None = None
    ) -> BacktestJob:
        """
        Submits a backtest and waits until it is finished, failed or cancelled. An error after the submission names the
        job: the service may still run it.
        """
        job_id = self.call("POST", "/v1/backtest", body=body)["job_id"]
        while True:
            try:
                job = self.call("GET", f"/v1/backtest/{_quoted(job_id)}")
            except UnderroundError as error:
                error.args = (f"{error}, of job {job_id}",)
                raise
            if job["status"] not in _UNFINISHED:
                return job
            if on_progress is not None:
                on_progress(job)
            self._requests.sleep(_JOB_POLL_S)

    def stream(
        self,
        *,
        tickers: str | Sequence[str] | None = None,
        event_types: str | Sequence[str] | None = None,
        market_ids: str | Sequence[str] | None = None,
        cursor: str | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Every book change of the subscribed markets, live. It reconnects, and continues where it was."""
        subscription = _subscription(tickers, event_types, market_ids)
        return messages(self._requests, "/v1/stream", {}, subscription, cursor, self._connections_max)

    def replay(
        self,
        *,
        tickers: str | Sequence[str] | None = None,
        event_types: str | Sequence[str] | None = None,
        market_ids: str | Sequence[str] | None = None,
        start: Any = None,
        end: Any = None,
        speed: float = 1,
        cursor: str | None = None,
    ) -> Iterator[dict[str, Any]]:
        """
        The recording as if it were live, from `start` (inclusive) to `end` (exclusive), both receive times. `speed`:
        recorded seconds per second; 0: as fast as you read.
        """
        query = {"start": start, "end": end, "speed": speed}
        subscription = _subscription(tickers, event_types, market_ids)
        return messages(self._requests, "/v1/replay", query, subscription, cursor, self._connections_max)

    def opportunities(self, tickers: str | Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """
        Every logical and endgame opportunity when it is detected. After a reconnection some may be missing: read the
        audit.
        """
        query = {"ticker": tickers}
        return messages(self._requests, "/v1/arb/ws", query, None, None, self._connections_max)


def _lines(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """The lines of an answer as they arrive. Line iteration of `http.client` would take a broken answer for a whole one."""
    rest = b""
    try:
        while data := response.read1(_READ_BYTES):
            *lines, rest = (rest + data).split(b"\n")
            yield from lines
    except (OSError, http.client.HTTPException) as error:
        raise NoAnswerError(f"the answer ended early: {error}") from error
    if rest or response.length:
        raise NoAnswerError("the answer ended early")


def _subscription(*lists: str | Sequence[str] | None) -> dict[str, list[str]]:
    """A text is one name, and not a list of its letters."""
    names = ("tickers", "event_types", "market_ids")
    return {
        name: [given] if isinstance(given, str) else list(given)
        for name, given in zip(names, lists)
        if given is not None
    }


def _quoted(text: str) -> str:
    return urllib.parse.quote(text, safe="")
