"""The set language: what expressions mean, against a naive evaluation, and what is said of those that mean nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.errors import InputError
from pivcs.ops.names import quoted
from pivcs.ops.revset import read, select
from pivcs.ops.set_syntax import DEEPEST, BadExpression
from pivcs.ops.view import SessionView
from pivcs.session.codes import is_conversation
from tests.builders import CLOCK, build_session, iso
from tests.ops.syncing import NOW, many_lines
from tests.ops.trees import TEXTS, naive_path, views
from tests.ops.views import name_of, view_of

TREE = view_of(
    build_session(
        "a-b-c-d, b-e-f, c-a1",
        kinds={"b": "assistant", "c": "tool", "f": "error"},
        texts={"c": "ls -l", "d": "hello (x) a&b", "a": "Fix the totals."},
        labels={"c": "good one", "d": "a..b"},
    )
)


def chosen(text: str, view: SessionView = TREE) -> str:
    """Return the names of what an expression chooses, each by its first two letters."""
    return " ".join(name_of(view, row)[:2] for row in select(view, text, NOW))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("bbbbbbbb", "bb"),
        (" HEAD ", "1a"),
        ("all()", "aa bb cc dd ee ff a1 1a 1a"),
        ("heads()", "dd ff 1a"),
        ("fork_points()", "bb cc"),
        ("branches()", "dd ff a1"),
        ("labels()", "cc dd"),
        ("tags()", ""),
        ("error()", "ff"),
        ("ancestors(dddddddd)", "aa bb cc dd"),
        ("ancestors(dddddddd | ffffffff)", "aa bb cc dd ee ff"),
        ("descendants(cccccccc)", "cc dd a1 1a 1a"),
        ("branch(main)", "aa bb cc dd"),
        ("branch(b-eeeeeeee)", "ee ff"),
        ("branch(bbbbbbbb)", "aa bb"),
        ("main..b-eeeeeeee", "ee ff"),
        ("main...b-eeeeeeee", "cc dd ee ff"),
        ("main..", "a1 1a 1a"),
        ("..main", "dd"),
        ("main~2..main^", "cc"),
        ("main..main", ""),
        ("role(user)", "aa ee"),
        ("role(TOOL)", "ff"),
        ("type(label)", "1a 1a"),
        ("type(message) & not role(user)", "bb cc dd ff a1"),
        ("tool(bash)", "cc ff"),
        ("tool('ba*')", "cc ff"),
        (r"text(\(x\))", "dd"),
        ('text("a&b")', "dd"),
        ("text('(?i)fix THE')", "aa"),
        (f"after({iso(CLOCK + 6000)})", "ff a1 1a 1a"),
        (f"before({iso(CLOCK + 2000)})", "aa"),
        ("not ancestors(HEAD)", "dd ee ff"),
        ("not not error()", "ff"),
        ("aaaaaaaa | bbbbbbbb & error()", "aa"),
        ("(aaaaaaaa | ffffffff) & error()", "ff"),
        ("not aaaaaaaa & ancestors(cccccccc)", "bb cc"),
        ("not (aaaaaaaa & error()) & ancestors(bbbbbbbb)", "aa bb"),
        ("ancestors(ancestors(cccccccc)~1)", None),
        ("good one", "cc"),
        ('label:"good one" | error()', "cc ff"),
        ('"good one"~1', "bb"),
        ("a..b", "dd"),
        ('label:"a..b"^', "cc"),
        (":/hello", "dd"),
        (':/"ls -l"~1 | error()', "bb ff"),
        ("@{1} | main@{3}", "aa 1a"),
    ],
)
def test_expression_and_what_it_chooses(text: str, names: str | None):
    if names is None:
        with pytest.raises(BadExpression):
            chosen(text)
    else:
        assert chosen(text) == names


@pytest.mark.parametrize(
    ("text", "position", "why"),
    [
        ("", 0, "an expression ends where"),
        ("(", 1, "an expression ends where"),
        ("(HEAD", 0, "a parenthesis is not closed"),
        ("HEAD)", 4, "')' closes nothing"),
        ("()", 1, "')' stands where"),
        ("HEAD & & main", 7, "'&' stands where"),
        ("HEAD && main", 6, "'&' is typed once"),
        ("HEAD main", 5, "'main' stands where an operator is due"),
        ("HEAD and main", 5, "'and' stands where an operator is due"),
        ("HEAD (main)", 5, "'(' stands where an operator is due"),
        ("HEAD not main", 5, "'not' stands where an operator is due"),
        ("not", 3, "an expression ends where"),
        ("~main", 0, "'~' follows a name"),
        ("main..HEAD..@", 10, "a range has two ends"),
        ("main....HEAD", 4, "a range has two or three dots"),
        ("heads()..HEAD", 7, "a range is between two revisions"),
        ("HEAD..heads()", 11, "a range is between two revisions"),
        ("HEAD .. main", 5, "a range is between two revisions"),
        ("head()", 0, "there is no function 'head'"),
        ("heads(main)", 0, "'heads' takes nothing"),
        ("role()", 0, "'role' needs something"),
        ("role(user", 4, "the parenthesis of 'role' is not closed"),
        ("ancestors(", 10, "an expression ends where"),
        ("error() | role(usr)", 15, "no entry has the role 'usr'"),
        ("type(massage)", 5, "no entry has the type 'massage'"),
        ("after(someday)", 6, "'someday' is no date"),
        ("error() & text([)", 15, "'[' is no regular expression"),
        ("text('x", 5, "a quote is not closed"),
        ("text('x' y)", 9, "')' is missing after the text of 'text'"),
        ('label:"x', 6, "a quote is not closed"),
        ("error() | nowhere", 10, "no branch, tag, label, entry or object id 'nowhere'"),
        ("main..nowhere", 6, "no branch, tag, label, entry or object id 'nowhere'"),
        ("branch(nowhere)", 7, "no branch, tag, label, entry or object id 'nowhere'"),
        ("a" * 200_000, 100_000, "an expression has at most 100,000 characters"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_error_says_where_and_what(text: str, position: int, why: str):
    with pytest.raises(BadExpression) as caught:
        chosen(text)
    assert caught.value.position == position
    message, shown, caret = caught.value.message.split("\n")
    assert message.startswith(why)
    assert caught.value.hint
    assert caret.endswith("^")
    assert caret.strip() == "^"
    if len(text) < 60:
        assert shown == f"  {text}"
        assert len(caret) == position + 3


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("head()", "did you mean 'heads'?"),
        ("rol(user)", "did you mean 'role'?"),
        ("role(asistant)", "did you mean 'assistant'?"),
        ("type(compation)", "did you mean 'compaction'?"),
        ("error() | b-eeeeeee1", "did you mean 'b-eeeeeeee'?"),
        ("HEAD and main", "`&` is meant"),
        ("HEAD OR main", "`|` is meant"),
        ("HEAD - main", "`& not` is meant"),
        ("~main", "complement is `not`"),
    ],
)
def test_error_suggests_what_may_be_meant(text: str, hint: str):
    with pytest.raises(BadExpression) as caught:
        chosen(text)
    assert caught.value.hint == hint


def test_long_expression_is_shown_around_the_place():
    with pytest.raises(BadExpression) as caught:
        chosen("error() | " * 100 + "& main" + " | main" * 100)
    _, shown, caret = caught.value.message.split("\n")
    assert len(shown) < 130
    assert shown[len(caret) - 1] == "&"


def test_parentheses_have_a_limit_and_operators_none():
    assert chosen("(" * DEEPEST + "aaaaaaaa" + ")" * DEEPEST) == "aa"
    assert chosen("ancestors(" * DEEPEST + "bbbbbbbb" + ")" * DEEPEST) == "aa bb"
    with pytest.raises(BadExpression, match="more than 200 parentheses are inside one another"):
        chosen("(" * (DEEPEST + 1) + "aaaaaaaa" + ")" * (DEEPEST + 1))
    assert chosen("not " * 9001 + "error()") == chosen("not error()")
    assert chosen("error()" + " | aaaaaaaa" * 5000) == "aa ff"


def test_one_revision_is_told_from_a_set():
    assert read(TREE, "main~1", NOW).revision == 3
    assert read(TREE, "good one", NOW).revision == 3
    assert read(TREE, " ( main~1 ) ", NOW).revision == 3
    assert read(TREE, "main~1 | main~1", NOW).revision is None


def test_session_without_entries_has_empty_sets():
    view = view_of(b"")
    assert chosen("all() | not heads() & ancestors(labels())", view) == ""
    with pytest.raises(BadExpression, match="'HEAD'"):
        chosen("ancestors(HEAD)", view)


Naive = Callable[[SessionView], set[int]]


def leaves(view: SessionView) -> st.SearchStrategy[tuple[str, set[int]]]:
    """Simple sets, each with what it means by definition."""
    table, nodes = view.table, list(view.table.nodes())
    parents = [table.parent_of(row) for row in nodes]
    tips = {branch.row for branch in view.refs.branches}
    known = {
        "all()": set(nodes),
        "heads()": {row for row in nodes if row not in parents},
        "fork_points()": {row for row in nodes if parents.count(row) > 1},
        "branches()": tips,
        "labels()": set(view.labels),
        "role(user)": {row for row in nodes if _role(view, row) == "user"},
        "type(label)": {row for row in nodes if view.entry(row).type == "label"},
        "type(message)": {row for row in nodes if view.entry(row).type == "message"},
        "tool(bash)": {row for row in nodes if _uses(view, row, "bash")},
        f"after({iso(CLOCK + 9000)})": {row for row in nodes if (table.time_of(row) or 0) >= CLOCK + 9000},
        "error()": {row for row in nodes if _failed(view, row)},
    }
    simple = st.sampled_from(sorted(known)).map(lambda text: (text, known[text]))
    if not nodes:
        return simple
    rows = st.sampled_from(nodes)

    def spelled(row: int) -> str:
        return f"entry/{table.object_id(row).hex}"

    def ranged(first: int, second: int, dots: str) -> tuple[str, set[int]]:
        left, right = set(naive_path(view, first)), set(naive_path(view, second))
        return f"{spelled(first)}{dots}{spelled(second)}", right - left if dots == ".." else right ^ left

    one = rows.map(lambda row: (spelled(row), {row}))
    return simple | one | st.builds(ranged, rows, rows, st.sampled_from(["..", "..."]))


def _role(view: SessionView, row: int) -> str | None:
    message = view.entry(row).message
    return message.role if message is not None and view.entry(row).type == "message" else None


def _failed(view: SessionView, row: int) -> bool:
    message = view.entry(row).message
    return message is not None and (message.is_error or message.stop_reason in ("error", "aborted"))


def _uses(view: SessionView, row: int, name: str) -> bool:
    role, message = _role(view, row), view.entry(row).message
    if message is None:
        return False
    calls = role == "assistant" and any(call.name == name for call in message.tool_calls())
    return calls or (role == "toolResult" and message.tool_name == name)


def expressions(view: SessionView) -> st.SearchStrategy[tuple[str, set[int]]]:
    """Expressions and what they mean, found by going through all rows again for every part."""
    nodes = set(view.table.nodes())
    paths = {row: set(naive_path(view, row)) for row in nodes}
    meanings: dict[str, Callable[[set[int], set[int]], set[int]]] = {
        "({}) & ({})": lambda a, b: a & b,
        "({}) | ({})": lambda a, b: a | b,
        "not ({})": lambda a, b: nodes - a,
        "ancestors({})": lambda a, b: {row for row in nodes if any(row in paths[each] for each in a)},
        "descendants({})": lambda a, b: {row for row in nodes if paths[row] & a},
    }

    def joined(form: str, one: tuple[str, set[int]], other: tuple[str, set[int]]) -> tuple[str, set[int]]:
        return form.format(one[0], other[0]), meanings[form](one[1], other[1])

    return st.recursive(
        leaves(view),
        lambda inner: st.builds(joined, st.sampled_from(sorted(meanings)), inner, inner),
        max_leaves=6,
    )


@given(views(), st.data())
def test_expressions_equal_a_naive_evaluation(view: SessionView, data: st.DataObject):
    text, meant = data.draw(expressions(view))
    assert select(view, text, NOW) == sorted(meant)


@given(views(), st.data())
def test_precedence_is_not_then_and_then_or(view: SessionView, data: st.DataObject):
    (a, x), (b, y), (c, z) = (data.draw(leaves(view)) for _ in range(3))
    nodes = set(view.table.nodes())
    assert select(view, f"not {a} & {b} | {c}", NOW) == sorted((nodes - x) & y | z)
    assert select(view, f"{a} | {b} & not {c}", NOW) == sorted(x | y & (nodes - z))


@given(views())
def test_lines_of_branches_share_nothing_and_cover_the_conversation(view: SessionView):
    table = view.table
    covered: list[int] = []
    for branch in view.refs.branches:
        rows = select(view, f"branch(heads/{quoted(branch.name)})", NOW)
        assert rows == sorted(set(rows) & set(naive_path(view, branch.row)))
        assert branch.row in rows
        covered += [row for row in rows if is_conversation(table.code[row])]
    assert len(covered) == len(set(covered))
    assert set(covered) == {row for row in table.nodes() if is_conversation(table.code[row])}


_PIECES = st.sampled_from(
    [
        "(", ")", "&", "|", "not ", "..", "...", "~", "^", "@{1}", "HEAD", "main", "heads()", "role(", "text(",
        "ancestors(", '"', "'", "\\", ",", ":/", "label:", " ", "\n", "\ud800", "L3", "~2", "after(1 day ago)", *TEXTS,
    ]
)  # fmt: skip


@given(views(), st.lists(_PIECES | st.text(max_size=4), max_size=12).map("".join))
def test_any_text_gives_rows_or_a_clear_error(view: SessionView, text: str):
    with suppress(InputError):
        found = read(view, text, NOW)
        assert found.rows == sorted(set(found.rows))
        assert all(found.view.table.is_node(row) for row in found.rows)


def test_sets_of_a_long_chain_need_no_deep_stack():
    view = view_of(many_lines(20_000))
    assert len(select(view, "ancestors(HEAD) & not descendants(HEAD~9999) | branch(main) & heads()", NOW)) == 10_001
