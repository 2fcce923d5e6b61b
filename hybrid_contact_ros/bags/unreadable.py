"""The one wrapper around the libraries that read recordings: whatever they raise becomes :class:`UnreadableBag`.

rosbags, sqlite3, zstd, lz4 and yaml each raise kinds of their own for a damaged file, and rosbags also raises what its
parsers happen to run into (``KeyError``, ``AssertionError``, ``struct.error``). Nothing of this package runs inside of
the wrapper, so that a bug of this package is never told as a damaged file: it propagates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")


class BagError(ValueError):
    """A recording that cannot be used; the text says why."""


class UnreadableBag(Exception):  # noqa: N818 - it names a state of the recording, and BagError is what a caller sees
    """Something of a recording cannot be read; the text says why. Inside of this room only."""


@contextmanager
def library() -> Iterator[None]:
    """A block that calls a reading library and nothing else.

    Raises:
        UnreadableBag: the library raised something.
    """
    try:
        yield
    except Exception as error:
        raise _unreadable(error) from error


def from_library(call: Callable[Parameters, Result], *args: Parameters.args, **options: Parameters.kwargs) -> Result:
    """The result of one call of a reading library.

    Raises:
        UnreadableBag: the library raised something.
    """
    try:  # not by the block above, which would take longer than most messages
        return call(*args, **options)
    except Exception as error:
        raise _unreadable(error) from error


def each_from_library(
    call: Callable[Parameters, Iterable[Item]], *args: Parameters.args, **options: Parameters.kwargs
) -> Iterator[Item]:
    """The items that a call of a reading library gives one by one.

    Raises:
        UnreadableBag: the library raised something, in the call or for an item.
    """
    items = from_library(lambda: iter(call(*args, **options)))
    while True:
        try:
            item = next(items)
        except StopIteration:
            return
        except Exception as error:
            raise _unreadable(error) from error
        yield item


def _unreadable(error: Exception) -> UnreadableBag:
    """The words of an error of a library, or its kind where it has none."""
    return UnreadableBag(str(error).strip() or type(error).__name__)
