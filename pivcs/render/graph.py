"""Draws a tree beside a listing, as `git log --graph` does.

Rows come newest first, each parent after its children. A *lane* is a vertical line from a drawn node down to a parent
that is yet to come. Lanes are kept in the order in which they began, so their numbers are sorted: a lane's column is
found by bisection, and a row costs what is visible of the graph however many lanes are open.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

K = TypeVar("K", bound=Hashable)

NODE = "*"
CURRENT = "@"
ELIDED = ":"
MISSING = "x"
HIDDEN = "~"
MORE_LANES = "…"
MORE_LANES_ASCII = ">"

MAX_LANES = 20
NO_LANE = -1


class Row(NamedTuple, Generic[K]):
    """One line of a listing.

    `parent` is the key of a row that comes later (or would, were the listing longer); None ends the line here: at a
    root, or with `stub` drawn below the node where the parent is `MISSING` from the session or `HIDDEN` by the
    listing. `hidden` is the number of entries for which an elision row stands.
    """

    key: K
    parent: K | None
    glyph: str = NODE
    stub: str = ""
    hidden: int = 0


class Line(NamedTuple):
    """A line of the graph; `lanes` has the number of the lane for each character of `text`, `NO_LANE` for blanks."""

    text: str
    lanes: tuple[int, ...]


class Drawing(NamedTuple, Generic[K]):
    """The graph beside one row; all its lines are equally wide and end in a space.

    `node` goes before the row's first line of text, `connectors` come next in any case, `filler` goes before any
    further line of text. `lane` is the number of the node's lane, for colour.
    """

    row: Row[K]
    lane: int
    node: Line
    connectors: tuple[Line, ...]
    filler: Line

    def beside(self, count: int) -> list[Line]:
        """Return the graph for `count` lines of text; more lines where the graph needs them, one at least."""
        lines = [self.node, *self.connectors]
        lines += [self.filler] * (count - len(lines))
        return lines


def elide_linear(rows: Iterable[Row[K]], is_interesting: Callable[[Row[K]], bool], *, longest: int = 8) -> list[Row[K]]:
    """Return rows with the inside of each long linear run replaced by one row with glyph `ELIDED` and `hidden` set.

    A run is a chain of rows that have one child and one parent in the listing and are not interesting: tips, roots,
    branch points, ends of a cut and whatever the caller marks stay. Runs of up to `longest` (at least 3) rows stay
    whole, of longer ones the first and the last stay. The elision row stands where the first row that it replaces
    stood, has its key, and leads to the last row of the run, so the tree stays connected.
    """
    if longest < 3:
        raise ValueError(f"runs of {longest} entries cannot be elided: 3 or more")
    listed = list(rows)
    place = {row.key: index for index, row in enumerate(listed)}
    children = [0] * len(listed)
    for row in listed:
        if row.parent is not None and row.parent in place:
            children[place[row.parent]] += 1
    plain = [
        children[index] == 1 and row.parent is not None and row.parent in place and not is_interesting(row)
        for index, row in enumerate(listed)
    ]
    replaced: dict[int, Row[K]] = {}
    dropped = bytearray(len(listed))
    walked = bytearray(len(listed))
    for start in range(len(listed)):
        # Children come first, so the first row of a run that is met is its top.
        if not plain[start] or walked[start]:
            continue
        run = [start]
        walked[start] = 1
        while (below := _place_below(listed[run[-1]], place)) >= 0 and plain[below] and not walked[below]:
            run.append(below)
            walked[below] = 1
        if len(run) <= longest:
            continue
        for index in run[1:-1]:
            dropped[index] = 1
        replaced[run[1]] = Row(listed[run[1]].key, listed[run[-1]].key, ELIDED, "", len(run) - 2)
    return [replaced.get(index, row) for index, row in enumerate(listed) if index in replaced or not dropped[index]]


def _place_below(row: Row[K], place: dict[K, int]) -> int:
    return -1 if row.parent is None else place.get(row.parent, -1)


class _Canvas:
    """One line being drawn: characters and the lanes that they belong to."""

    def __init__(self, width: int) -> None:
        self.characters = [" "] * width
        self.lanes = [NO_LANE] * width

    def put(self, column: int, character: str, lane: int) -> None:
        if column < len(self.characters):
            self.characters[column] = character
            self.lanes[column] = lane

    def line(self) -> Line:
        return Line("".join(self.characters), tuple(self.lanes))


def draw(rows: Iterable[Row[K]], *, max_lanes: int = MAX_LANES, more: str = MORE_LANES) -> Iterator[Drawing[K]]:
    """Draw rows, children before parents, one `Drawing` for each; reads one row ahead, keeps only open lanes.

    At most `max_lanes` lanes are drawn; `more` (`MORE_LANES_ASCII` where it cannot be encoded) stands for the others,
    and a node on one of these stands in its place. A parent that never comes leaves its lane open to the end, as in
    git when a listing is cut.
    """
    artist: _Artist[K] = _Artist(max(1, max_lanes), more)
    previous: Row[K] | None = None
    for row in rows:
        if previous is not None:
            yield artist.row(previous, row)
        previous = row
    if previous is not None:
        yield artist.row(previous, None)


class _Artist(Generic[K]):
    def __init__(self, limit: int, more: str) -> None:
        self.limit = limit
        self.more = more
        self.lanes: list[int] = []  # numbers of the open lanes by column: always ascending
        self.awaited: dict[K, int] = {}  # the key that a lane leads to, one lane for each
        self.next_lane = 0
        self.drawn: tuple[int, Line] | None = None

    def row(self, row: Row[K], following: Row[K] | None) -> Drawing[K]:
        lane = self.awaited.pop(row.key, None)
        if lane is None:
            lane = self.next_lane
            self.next_lane += 1
            self.lanes.append(lane)
            self.drawn = None
            column = len(self.lanes) - 1
        else:
            column = bisect_left(self.lanes, lane)
        count = len(self.lanes)  # never fewer than below the node
        node = self._node(row.glyph, lane, column, count)
        connectors = self._go_on(row, lane, column, count)
        if (
            following is not None
            and following.key not in self.awaited
            and row.parent is None
            and not connectors
            and column < self.limit
        ):
            # The next row begins a lane in the column where this one ended: a blank line keeps them apart.
            connectors.append(self._still(count))
        return Drawing(row, lane, node, tuple(connectors), self._still(count))

    def _node(self, glyph: str, lane: int, column: int, count: int) -> Line:
        if column < self.limit:
            text, lanes = self._still(count)
            return Line(text[: 2 * column] + glyph + text[2 * column + 1 :], lanes)
        canvas = self._bars(count)
        canvas.put(2 * self.limit, glyph, lane)
        if count > self.limit + 1:
            canvas.put(2 * self.limit + 1, self.more, NO_LANE)
        return canvas.line()

    def _still(self, count: int) -> Line:
        """The line of `_bars`, remembered while lanes stay as they are: most rows of a long chain need no other."""
        if self.drawn is None or self.drawn[0] != count:
            self.drawn = count, self._bars(count).line()
        return self.drawn[1]

    def _go_on(self, row: Row[K], lane: int, column: int, count: int) -> list[Line]:
        """Lead the lane of a drawn node on to its parent; return what has to be drawn for it."""
        connectors: list[Line] = []
        if row.parent is None:
            if row.stub:
                stub = self._bars(count)
                stub.put(2 * min(column, self.limit), row.stub, lane)
                connectors.append(stub.line())
            del self.lanes[column]
            self.drawn = None
            if column < min(len(self.lanes), self.limit):
                connectors.append(self._moved(column, column, count).line())
            return connectors
        other = self.awaited.get(row.parent)
        if other is None:
            self.awaited[row.parent] = lane
            return connectors
        # Two lanes lead to one parent: the right one joins the left one.
        left, right = sorted((column, bisect_left(self.lanes, other)))
        joining = self.lanes[right]
        del self.lanes[right]
        self.drawn = None
        self.awaited[row.parent] = self.lanes[left]
        if left >= self.limit:
            return connectors
        end = min(right, self.limit)
        first = self._moved(end, right, count)
        for between in range(left + 1, end - 1):
            first.put(2 * between + 1, "_", joining)
        first.put(2 * end - 1, "/", joining)
        connectors.append(first.line())
        if end > left + 1:
            second = self._bars(count)
            second.put(2 * left + 1, "/", joining)
            connectors.append(second.line())
        return connectors

    def _bars(self, count: int) -> _Canvas:
        """A line with all open lanes, in a drawing that has `count` of them at its widest."""
        canvas = self._blank(count)
        for column, lane in enumerate(self.lanes[: self.limit]):
            canvas.put(2 * column, "|", lane)
        return canvas

    def _moved(self, straight: int, gone: int, count: int) -> _Canvas:
        """A line on which the lanes from column `gone` on (the lane there was taken away) come from the right."""
        canvas = self._blank(count)
        for column, lane in enumerate(self.lanes[: self.limit]):
            if column < straight:
                canvas.put(2 * column, "|", lane)
            elif column >= gone:
                canvas.put(2 * column + 1, "/", lane)
        return canvas

    def _blank(self, count: int) -> _Canvas:
        canvas = _Canvas(2 * min(count, self.limit) + (3 if count > self.limit else 0))
        if len(self.lanes) > self.limit:
            canvas.put(2 * self.limit, self.more, NO_LANE)
        return canvas
