"""The drawing is read back: from every node its line is followed down, and must end at the node's parent."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.render.graph import (
    CURRENT,
    ELIDED,
    HIDDEN,
    MISSING,
    MORE_LANES_ASCII,
    Drawing,
    Row,
    draw,
    elide_linear,
)


def rows_of(listing: str) -> list[Row[str]]:
    """`"ba ca a"`: rows b and c with parent a, root a; `"bx"` ends in a stub because x is the missing parent."""
    return [
        Row(word[0], None, stub=MISSING) if word[1:] == MISSING else Row(word[0], word[1:] or None)
        for word in listing.split()
    ]


def picture(rows: list[Row[str]], *, max_lanes: int = 20, more: str = "…") -> str:
    lines: list[str] = []
    for drawing in draw(rows, max_lanes=max_lanes, more=more):
        texts = [drawing.row.key]
        for place, line in enumerate(drawing.beside(1)):
            lines.append((line.text + (texts[place] if place < len(texts) else "")).rstrip())
    return "\n".join(lines)


def drawn(text: str) -> str:
    return "\n".join(line.strip()[1:].rstrip() for line in text.strip().splitlines())


@pytest.mark.parametrize(
    ("listing", "expected"),
    [
        pytest.param("cb ba a", "#* c\n#* b\n#* a", id="chain"),
        pytest.param("ba ca da a", "#* b\n#| * c\n#|/\n#| * d\n#|/\n#* a", id="three-children"),
        pytest.param(
            # As printed by git for these commits, also in the next case.
            "ie jf ha ka da eb fc ba ca a",
            """
            #* i
            #| * j
            #| | * h
            #| | | * k
            #| | |/
            #| | | * d
            #| | |/
            #* | | e
            #| * | f
            #* | | b
            #| |/
            #|/|
            #| * c
            #|/
            #* a
            """,
            id="crossing",
        ),
        pytest.param("zo wm on m n", "#* z\n#| * w\n#* | o\n#| * m\n#* n", id="root-at-the-right"),
        pytest.param("zo wm o m", "#* z\n#| * w\n#* | o\n# /\n#* m", id="root-at-the-left"),
        pytest.param(
            "sq tp uy vi qr pg yh ir r",
            """
            #* s
            #| * t
            #| | * u
            #| | | * v
            #* | | | q
            #| * | | p
            #| | * | y
            #| | | * i
            #| |_|/
            #|/| |
            #* | | r
            # / /
            """,
            id="crossing-two-lanes-in-a-cut-listing",
        ),
        pytest.param("a cb b", "#* a\n#\n#* c\n#* b", id="unrelated-below-a-root"),
        pytest.param("da ex ca a", "#* d\n#| * e\n#| x\n#| * c\n#|/\n#* a", id="missing-parent"),
        pytest.param("ex da a", "#* e\n#x\n#* d\n#* a", id="missing-parent-alone"),
    ],
)
def test_shapes(listing: str, expected: str) -> None:
    assert picture(rows_of(listing)) == drawn(expected)


def test_glyphs_mark_position_and_gaps() -> None:
    rows = [Row("c", "b", CURRENT), Row("b", "a", ELIDED, hidden=17), Row("a", None, stub=HIDDEN)]
    assert picture(rows) == "@ c\n: b\n* a\n~"


def test_lanes_beyond_the_limit_are_one_sign() -> None:
    listing = rows_of("pa qb rc sd te a bi ci di ei i")
    assert picture(listing, max_lanes=3) == drawn(
        """
        #* p
        #| * q
        #| | * r
        #| | | *  s
        #| | | *… t
        #* | | …  a
        # / / /…
        #* | | …  b
        #| * | …  c
        #|/ / /
        #| * | d
        #|/ /
        #| * e
        #|/
        #* i
        """
    )
    ascii_only = picture(listing, max_lanes=3, more=MORE_LANES_ASCII)
    assert ascii_only.isascii()
    assert ascii_only.replace(MORE_LANES_ASCII, "…") == picture(listing, max_lanes=3)


def test_a_lane_beyond_the_limit_joins_across_the_others() -> None:
    assert picture(rows_of("pi qb rc sd ti"), max_lanes=3) == drawn(
        """
        #* p
        #| * q
        #| | * r
        #| | | *  s
        #| | | *… t
        #| |_|/…
        #|/| | …
        """
    )


def test_text_of_several_lines_goes_beside_the_connectors() -> None:
    drawing = list(draw(rows_of("ba ca a")))[1]
    assert [line.text for line in drawing.beside(4)] == ["| * ", "|/  ", "|   ", "|   "]
    assert [line.text for line in drawing.beside(0)] == ["| * ", "|/  "]


def test_lane_numbers_follow_the_lines() -> None:
    first, second, root = draw(rows_of("ba ca a"))
    assert (first.lane, second.lane, root.lane) == (0, 1, 0)
    assert second.node.lanes == (0, -1, 1, -1)
    assert second.connectors[0].lanes == (0, 1, -1, -1)


@st.composite
def trees(draw_from: st.DrawFn) -> list[Row[int]]:
    """A forest in any order that shows children first, perhaps cut short."""
    size = draw_from(st.integers(1, 40))
    bushy = draw_from(st.booleans())
    parents: list[int | None] = []
    for key in range(size):
        lowest = 0 if bushy else max(0, key - 3)
        parents.append(draw_from(st.none() | st.integers(lowest, key - 1)) if key else None)
    chooser = random.Random(draw_from(st.integers(0, 2**32)))
    waiting = [parents.count(key) for key in range(size)]
    ready = [key for key in range(size) if not waiting[key]]
    rows: list[Row[int]] = []
    while ready:
        key = ready.pop(chooser.randrange(len(ready)))
        parent = parents[key]
        rows.append(Row(key, parent, stub=MISSING if parent is None and chooser.random() < 0.3 else ""))
        if parent is not None:
            waiting[parent] -= 1
            if not waiting[parent]:
                ready.append(parent)
    return rows[: draw_from(st.integers(1, size))] if draw_from(st.booleans()) else rows


def follow(lines: list[str], y: int, x: int) -> tuple[int, int] | str:
    """Follow the line that leaves the node at (y, x) downwards: where it ends, and on what."""
    while y + 1 < len(lines):
        here, below = lines[y], lines[y + 1]
        if here[x] == "/":
            if here[x - 2 : x] == "_|" or below[x - 2 : x - 1] == "/":
                # Crosses the lanes between; ends as the slash beside the lane that it joins.
                while here[x - 2] == "_":
                    x -= 2
                y, x = y + 1, x - 2
                assert lines[y][x] == "/"
                x -= 1
                assert lines[y][x] in "|*", "a line that crosses joins the lane there"
                continue
            x -= 1
            if here[x] == "|":
                continue
            y += 1
        elif below[x : x + 1] == "|" or below[x : x + 1] in ("*", MISSING):
            y += 1
        elif below[x - 1 : x] == "/":
            y, x = y + 1, x - 1
            continue
        else:
            return "nothing"
        found = lines[y][x]
        if found == "*":
            return y, x
        if found == MISSING:
            return "missing"
        assert found == "|", (y, x, found)
    return "end"


def drawn_lines(drawings: list[Drawing[int]], texts: int) -> tuple[list[str], list[tuple[int, int]]]:
    lines: list[str] = []
    nodes: list[tuple[int, int]] = []
    for drawing in drawings:
        nodes.append((len(lines), drawing.node.text.index("*")))
        lines += [line.text for line in drawing.beside(texts)]
    return lines, nodes


@given(trees(), st.integers(1, 4))
def test_every_line_leads_from_a_node_to_its_parent(rows: list[Row[int]], texts: int) -> None:
    drawings = list(draw(rows, max_lanes=100))
    assert [drawing.row for drawing in drawings] == rows
    lines, nodes = drawn_lines(drawings, texts)
    place = {row.key: node for row, node in zip(rows, nodes, strict=True)}
    for row in rows:
        found = follow(lines, *place[row.key])
        if row.parent is None:
            # With no text beside it, a root at the very end has nothing below.
            assert found == "missing" if row.stub else found in ("nothing", "end")
        else:
            assert found == place.get(row.parent, "end")


@given(trees(), st.integers(1, 100))
def test_lines_of_a_row_are_equally_wide_and_marked_with_lanes(rows: list[Row[int]], max_lanes: int) -> None:
    for drawing in draw(rows, max_lanes=max_lanes):
        lines = drawing.beside(3)
        assert len({len(line.text) for line in lines}) == 1
        assert len(lines[0].text) <= 2 * max_lanes + 3
        for line in lines:
            assert line.text.endswith(" ")
            assert len(line.lanes) == len(line.text)
            assert all((lane < 0) == (mark in " …") for mark, lane in zip(line.text, line.lanes, strict=True))


@given(trees(), st.integers(1, 6))
def test_a_limit_changes_nothing_to_its_left(rows: list[Row[int]], max_lanes: int) -> None:
    for narrow, wide in zip(draw(rows, max_lanes=max_lanes), draw(rows, max_lanes=100), strict=True):
        inside = 2 * max_lanes - 1
        assert narrow.filler.text[:inside].rstrip() == wide.filler.text[:inside].rstrip()
        assert narrow.node.text[:inside].rstrip() == wide.node.text[:inside].rstrip()


def test_many_branches_from_one_point_need_two_lanes() -> None:
    rows = [*(Row(key, 0) for key in range(20_000, 0, -1)), Row(0, None)]
    assert max(len(line.text) for drawing in draw(rows) for line in drawing.beside(1)) == 4


def test_many_open_lanes_are_drawn_within_the_limit() -> None:
    lanes = 20_000
    tips = [Row(lanes + key, key) for key in range(1, lanes)]
    joins = [Row(key, 0) for key in range(1, lanes)]
    size = 0
    for drawing in draw([*tips, *joins, Row(0, None)], max_lanes=20):
        size += sum(len(line.text) for line in drawing.beside(1))
    assert size < 100 * 2 * lanes


def test_drawing_starts_before_the_listing_ends() -> None:
    def endless() -> Iterator[Row[int]]:
        key = 0
        while True:
            yield Row(key, key - 1)
            key -= 1

    drawings = draw(endless())
    assert [next(drawings).node.text for _ in range(3)] == ["* ", "* ", "* "]


def chain(length: int) -> list[Row[int]]:
    return [Row(key, key - 1 if key else None) for key in range(length - 1, -1, -1)]


def test_long_run_is_one_row_between_its_ends() -> None:
    shown = elide_linear(chain(21), lambda row: False, longest=4)
    assert [row.key for row in shown] == [20, 19, 18, 1, 0]
    assert shown[2] == Row(18, 1, ELIDED, hidden=17)
    assert [drawing.node.text for drawing in draw(shown)] == ["* ", "* ", ": ", "* ", "* "]


def test_run_up_to_the_limit_stays() -> None:
    assert elide_linear(chain(6), lambda row: False, longest=4) == chain(6)
    assert len(elide_linear(chain(7), lambda row: False, longest=4)) == 5


def test_marked_rows_split_runs() -> None:
    shown = elide_linear(chain(30), lambda row: row.key == 15, longest=3)
    assert [(row.key, row.hidden) for row in shown] == [
        (29, 0), (28, 0), (27, 11), (16, 0), (15, 0), (14, 0), (13, 12), (1, 0), (0, 0),
    ]  # fmt: skip


def test_a_very_long_chain_is_elided_and_drawn() -> None:
    shown = elide_linear(iter(chain(200_000)), lambda row: False)
    assert [row.hidden for row in shown] == [0, 0, 199_996, 0, 0]
    assert len(list(draw(chain(200_000)))) == 200_000


def test_runs_too_short_to_elide_are_refused() -> None:
    with pytest.raises(ValueError, match="3 or more"):
        elide_linear(chain(3), lambda row: False, longest=2)


@given(trees(), st.integers(3, 6), st.sets(st.integers(0, 40)))
def test_elision_keeps_ends_and_connections(rows: list[Row[int]], longest: int, marked: set[int]) -> None:
    shown = elide_linear(rows, lambda row: row.key in marked, longest=longest)
    parents = {row.key: row.parent for row in rows}
    kept = {row.key: row for row in shown}
    assert sum(row.hidden or 1 for row in shown) == len(rows)
    assert [key for key in parents if key in kept] == [row.key for row in shown]
    for row in shown:
        # An elision row's key is the first of those that it stands for: as many steps up as it hides reach its parent.
        ancestor: int | None = row.key
        for _ in range(row.hidden or 1):
            assert ancestor is not None
            ancestor = parents[ancestor]
        assert row.parent == ancestor
        assert row.hidden != 1
    listed_parents = [row.parent for row in rows]
    for source in rows:
        special = source.key in marked or listed_parents.count(source.key) != 1 or source.parent not in parents
        assert not special or kept[source.key] == source
