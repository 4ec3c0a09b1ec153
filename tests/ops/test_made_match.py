"""Laws of matching: nothing is counted twice or lost, and nobody gets a line that they did not write."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops.made import bare_lines, blob_id, made_of, tells
from pivcs.ops.made_match import Candidate, How, Match, Run, match
from pivcs.workspace.linediff import opcodes
from pivcs.workspace.state import FilePath
from tests.ops.views import view_of
from tests.talks import Talk

A = FilePath("a.py", True)
LINES = st.lists(
    st.sampled_from(["", "}", "else:", "return None", "alpha()", "  alpha()", "beta()", "gamma()", "d = 1"]), max_size=8
)
TEXTS = LINES.map(lambda lines: "".join(f"{line}\n" for line in lines))


def matched(talks: list[Talk], before: str, after: str, time: int | None = None) -> tuple[Match, list[Run]]:
    """Match a change of `a.py` with what sessions made of it."""
    mades = [made_of(view_of(talk.data)) for talk in talks]
    candidates = [Candidate(number, made.files[A]) for number, made in enumerate(mades) if A in made.files]
    old, new = bare_lines(before.encode()), bare_lines(after.encode())
    runs = [
        Run(old[code.before_start : code.before_end], new[code.after_start : code.after_end])
        for code in opcodes(old, new) if code.tag != "equal"
    ]  # fmt: skip
    return match(mades, candidates, runs, blob_id(after.encode()), lambda: new, time), runs


@given(writes=st.lists(TEXTS, max_size=4), others=st.lists(TEXTS, max_size=2), before=TEXTS, after=TEXTS)
def test_every_line_has_one_writer_or_none_and_writers_wrote_it(
    writes: list[str], others: list[str], before: str, after: str
) -> None:
    talks = []
    for number, texts in enumerate((writes, others)):
        talk = Talk(session_id=f"s{number}", first=1 + 100 * number)
        root = talk.prompt("Go.")
        for text in texts:
            talk.write("a.py", text)
        talk.at = root
        talks.append(talk)
    found, runs = matched(talks, before, after)
    assert [len(run) for run in found.writers] == [len(run.written) for run in runs]
    tied = [(line, writer) for run, writers in zip(runs, found.writers, strict=True)
            for line, writer in zip(run.written, writers, strict=True) if writer is not None]  # fmt: skip
    assert sum(found.lines.values()) == len(tied)
    mades = [made_of(view_of(talk.data)) for talk in talks]
    for line, writer in tied:
        assert mades[writer.session].files[A].has_written(line, writer.row)
    if after in writes + others and after:
        assert found.how is How.EXACT
        assert len(tied) == sum(len(run.written) for run in runs)
    elif found.how is not How.EXACT:
        assert not tied or any(tells(line) for line, _ in tied)


@given(text=TEXTS, more=TEXTS)
def test_what_was_added_by_hand_twice_is_given_at_most_once(text: str, more: str) -> None:
    """The session wrote each line as often as it stands in the text; what is added beyond that is by hand."""
    talk = Talk()
    talk.prompt("Go.")
    talk.write("a.py", text)
    found, runs = matched([talk], text, text + more + text + "by_hand_at_the_end()\n")
    tied = [line for run, writers in zip(runs, found.writers, strict=True)
            for line, writer in zip(run.written, writers, strict=True) if writer is not None]  # fmt: skip
    assert not any(tells(line) for line in tied)


def test_latest_until_the_time_is_chosen_and_when_all_are_later_the_latest() -> None:
    talk = Talk()
    root = talk.prompt("Go.")
    talk.write("a.py", "the_line()\n")
    first = talk.clock
    talk.at, talk.clock = root, talk.clock + 10_000_000
    talk.write("a.py", "the_line()\nmore()\n")
    rows = {}
    for name, time in (("first", first), ("second", talk.clock), ("before", first - 10_000_000), ("never", None)):
        found, _ = matched([talk], "", "the_line()\nby_hand()\n", time)
        (writer,) = found.lines
        rows[name] = writer.row
    assert rows["first"] < rows["second"] == rows["before"] == rows["never"]
