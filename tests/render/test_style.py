import re

import pytest

from pivcs.render.style import ColourWhen, Role, Styler, should_colour

PAINT = re.compile("\x1b\\[[0-9;]*m")


def test_without_colour_all_text_is_plain() -> None:
    plain = Styler(colour=False)
    assert all(plain(role, "text") == "text" for role in Role)
    assert plain.spans([(Role.ID, "a1"), (Role.PLAIN, " "), (Role.USER, "hi")]) == "a1 hi"
    assert plain.lane(3, "|") == "|"
    assert plain.graph("| *", (0, -1, 1)) == "| *"


def test_colour_adds_only_paint() -> None:
    colourful = Styler(colour=True)
    for role in Role:
        painted = colourful(role, "text")
        assert PAINT.sub("", painted) == "text"
        assert (painted == "text") == (role is Role.PLAIN)


def test_every_line_is_painted_by_itself() -> None:
    assert Styler(colour=True)(Role.HEADING, "a\n\nb") == "\x1b[1ma\x1b[m\n\n\x1b[1mb\x1b[m"


def test_nothing_is_painted_as_nothing() -> None:
    assert Styler(colour=True)(Role.ID, "") == ""


def test_graph_lines_are_painted_in_runs_of_one_lane() -> None:
    painted = Styler(colour=True).graph("|/ | ", (0, 0, -1, 1, -1))
    assert painted == "\x1b[31m|/ \x1b[m\x1b[32m| \x1b[m"


@pytest.mark.parametrize(
    ("when", "environ", "is_terminal", "colour"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("always", {"NO_COLOR": "1", "TERM": "dumb"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"NO_COLOR": "0"}, True, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"CLICOLOR_FORCE": "1", "TERM": "dumb"}, False, True),
        ("auto", {"CLICOLOR_FORCE": "0"}, False, False),
        ("auto", {"FORCE_COLOR": ""}, False, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"TERM": "xterm-256color"}, True, True),
        ("auto", {"CLICOLOR": "0"}, True, False),
    ],
)
def test_when_colour_is_used(when: ColourWhen, environ: dict[str, str], is_terminal: bool, colour: bool) -> None:
    assert should_colour(when, environ, is_terminal) is colour
