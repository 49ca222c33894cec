"""
Reads an Underround service: recorded order books of crypto prediction markets, live streams, signals, backtests and
webhooks. Only the standard library is needed; `export_frame` uses pandas and `export_table` pyarrow.
"""

from ._books import Book, LiveBooks, books_of
from ._client import Underround
from ._errors import ApiError, BookGapError, NoAnswerError, SignatureError, StreamError, UnderroundError
from ._webhook import verify_webhook

__all__ = [
    "ApiError",
    "Book",
    "BookGapError",
    "LiveBooks",
    "NoAnswerError",
    "SignatureError",
    "StreamError",
    "Underround",
    "UnderroundError",
    "books_of",
    "verify_webhook",
]
__version__ = "0.1.0"
