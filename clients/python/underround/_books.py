"""Order books from changes and from streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Iterator, Mapping

from ._errors import BookGapError

#: Resolved markets whose books are kept: a stream of months must not fill the memory.
_RESOLVED_MAX = 100
_SIDES = ("yes_bids", "yes_asks", "no_bids", "no_asks")


@dataclass(frozen=True)
class Book:
    """One state of a book. Levels are `(price, size)`, best first: USDC per share, shares."""

    market_id: str
    ts: str
    trusted: bool
    seq: int
    yes_bids: list[tuple[float, float]]
    yes_asks: list[tuple[float, float]]
    no_bids: list[tuple[float, float]]
    no_asks: list[tuple[float, float]]


def books_of(rows: Iterable[Mapping[str, Any]]) -> Iterator[Book]:
    """
    The books of one market, from the rows of the export `deltas`: one for each state.

    Raises BookGapError if the rows do not begin with a whole book, go back, are of two markets, or remove a level that
    does not exist: rows are missing.
    """
    last: Mapping[str, Any] | None = None
    sides: dict[str, dict[float, float]] = {name: {} for name in _SIDES}
    for row in rows:
        if last is None or row["seq"] != last["seq"]:
            if last is not None:
                yield _book(last, sides)
            _check_order(row, last)
            if row["is_snapshot"]:
                sides = {name: {} for name in _SIDES}
        levels = sides[f"{row['token']}_{row['side']}s"]
        if row["size"] > 0:
            levels[row["price"]] = row["size"]
        elif levels.pop(row["price"], None) is None:
            raise BookGapError(
                f"seq {row['seq']} at {row['ts']} removes a level at {row['price']} that does not exist"
            )
        last = row
    if last is not None:
        yield _book(last, sides)


def _check_order(row: Mapping[str, Any], last: Mapping[str, Any] | None) -> None:
    if last is None:
        if not row["is_snapshot"]:
            raise BookGapError(f"the changes begin at seq {row['seq']} without a whole book")
        return
    if row["market_id"] != last["market_id"]:
        raise BookGapError(f"changes of two markets: {last['market_id']} and {row['market_id']}")
    if (row["ts"], row["seq"]) <= (last["ts"], last["seq"]):
        raise BookGapError(f"seq {row['seq']} at {row['ts']} follows seq {last['seq']} at {last['ts']}")


def _book(row: Mapping[str, Any], sides: Mapping[str, Mapping[float, float]]) -> Book:
    ladders = {name: sorted(sides[name].items(), reverse=name.endswith("bids")) for name in _SIDES}
    return Book(row["market_id"], row["ts"], row["trusted"], row["seq"], **ladders)


class LiveBooks:
    """The newest book of each market of a stream, and whether it can be trusted at this moment."""

    def __init__(self) -> None:
        self._books: dict[str, dict[str, Any]] = {}
        self._open_gaps: dict[str, set[str]] = {}
        #: Markets whose book is of a connection that could not be continued.
        self._outdated: set[str] = set()
        #: Resolved markets, oldest first.
        self._resolved: dict[str, None] = {}
        #: Changes may be missing before the newest books: the stream could not continue where it was.
        self.missed_changes = False

    def apply(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Applies one message. Returns the market's book if the message changed it."""
        kind = message["type"]
        if kind == "snapshot":
            self._books[message["market_id"]] = message
            self._outdated.discard(message["market_id"])
            return message
        if kind == "gap":
            gaps = self._open_gaps.setdefault(message["market_id"], set())
            (gaps.add if message["state"] == "open" else gaps.discard)(message["gap_id"])
            if not gaps:
                del self._open_gaps[message["market_id"]]
        elif kind == "market" and message["status"] == "resolved":
            self._on_resolved(message["market_id"])
        elif kind == "ack" and message.get("resumed") is False:
            self._start_again()
        return None

    def book(self, market_id: str) -> dict[str, Any] | None:
        """
        None before the first book, after at least 100 other markets were resolved since the market's outcome, and after
        two connections in a row that could not continue and brought no book of it.
        """
        return self._books.get(market_id)

    def is_trusted(self, market_id: str) -> bool:
        """
        False while a gap is open, and until a trusted book follows it or a connection that could not continue where the
        last one ended.
        """
        book = self._books.get(market_id)
        if book is None or market_id in self._outdated:
            return False
        return book["trusted"] and not self._open_gaps.get(market_id)

    def _start_again(self) -> None:
        """The service reports the open gaps again, but not those that closed meanwhile."""
        self.missed_changes = True
        self._open_gaps.clear()
        # Without a book since the last such time, the market has probably ended, and nothing will say so.
        for market_id in list(self._outdated):
            self._release(market_id)
        self._outdated.update(self._books)

    def _on_resolved(self, market_id: str) -> None:
        self._resolved[market_id] = None
        if len(self._resolved) > _RESOLVED_MAX:
            self._release(next(iter(self._resolved)))

    def _release(self, market_id: str) -> None:
        self._books.pop(market_id, None)
        self._open_gaps.pop(market_id, None)
        self._outdated.discard(market_id)
        self._resolved.pop(market_id, None)
