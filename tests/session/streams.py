"""Streams of lines for property tests: whole, torn, glued, blank, doubled, long, of any version."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.builders import bash_line, entry_line, header_line, label_line, message_line, tool_call_line
from tests.session.torn import torn_lines

IDS = ("aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd", "0000000e", "odd id", "é", "DDDDDDDD")

_ids = st.sampled_from(IDS)
_parents = st.none() | _ids | st.just("ffffffff")


def entry_lines() -> st.SearchStrategy[bytes]:
    """Whole entry lines over few ids, so that ids repeat, parents are missing, and lines are doubled."""
    texts = st.sampled_from(["x", "}{", "é\u2028", "long " * 40])
    times = st.sampled_from([1_767_225_600_000, 1_767_225_601_000])
    return st.one_of(
        st.builds(lambda i, p, t, ms: message_line(i, p, "user", t, ms=ms), _ids, _parents, texts, times),
        st.builds(lambda i, p, t: message_line(i, p, "assistant", t, stopReason="aborted"), _ids, _parents, texts),
        st.builds(lambda i, p: tool_call_line(i, p, "read", {"path": "a"}), _ids, _parents),
        st.builds(lambda i, p: bash_line(i, p, "ls"), _ids, _parents),
        st.builds(lambda i, p: label_line(i, p, "aaaaaaaa", "good"), _ids, _parents),
        st.builds(lambda i, p: entry_line("not yet known", i, p, data=1e300), _ids, _parents),
    )


def _ended(line: bytes) -> bytes:
    return line.replace(b"\n", b" ") + b"\n"


def lines() -> st.SearchStrategy[bytes]:
    """Complete lines of every kind."""
    unusual = st.sampled_from(
        [
            b"\n",
            b" \t\r\n",
            b"\xc2\xa0\n",
            b"null\n",
            b"[1]\n",
            b"{}\n",
            b'{"type":"message"}\n',
            b'{"type":"x","id":5}\n',
            b'{"id":"only"}\n',
            b'{"type":"x","id":"q","parentId":7,"timestamp":8,"message":9}\n',
            b'{"type":"x","id":"q","message":{"role":1,"isError":"yes"}}\n',
            b'{"type":"x","type":"y","id":"q","id":"r"}\n',
            b'{"type":"x","id":"\\ud800"}\n',
            b'{"type":"x","id":"n","v":NaN}\n',
            b'{"type":"x","id":"n","v":1e999}\n',
            b'{"type":"x","id":"b","v":"\xff"}\n',
            b'  {"type":"x","id":"w"}\t\r\n',
            b'{"type":"x","id":"o"},\n',
            b'{"type":"x",\n',
            b'"id":"two lines"}\n',
            b"\0" * 12 + b"\n",
            b"\xef\xbb\xbf" + message_line("aaaaaaaa"),
        ]
    )
    headers = st.sampled_from(
        [
            header_line(),
            header_line(version=1),
            header_line(version=None),
            header_line(version=2),
            b'{"type":"session"}\n',
        ]
    )
    return entry_lines() | entry_lines() | unusual | torn_lines().map(_ended) | headers


def streams() -> st.SearchStrategy[bytes]:
    """Whole streams, most of which begin with a header, some of which end in the middle of a line."""
    starts = st.sampled_from([header_line(), header_line(), header_line(version=1), header_line(version=None), b""])
    tails = st.sampled_from([b"", b"", message_line("aaaaaaaa")[:-1], b'{"type":', b"\0\0", b" "])
    several = st.builds(lambda line, times: line * times, lines(), st.sampled_from([1, 1, 1, 2, 3]))
    return st.builds(
        lambda start, middle, tail: start + b"".join(middle) + tail, starts, st.lists(several, max_size=14), tails
    )


def orderly_streams() -> st.SearchStrategy[bytes]:
    """Streams of ordinary lines alone, which can be decoded many at once."""
    starts = st.sampled_from([header_line(), header_line(version=1)])
    return st.builds(lambda start, middle: start + b"".join(middle), starts, st.lists(entry_lines(), max_size=14))


def piece_sizes() -> st.SearchStrategy[int]:
    """How much one read gives."""
    return st.sampled_from([1, 2, 3, 7, 64, 100, 1000, 1 << 20]) | st.integers(1, 5000)
