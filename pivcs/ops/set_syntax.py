"""The set language's text, taken apart: words, quoted texts, functions, operators (`docs/revisions.md`).

No regular expression decides what belongs together, and nothing recurses: the result is a list of steps in the order
in which a stack machine does them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from pivcs.errors import InputError

DEEPEST: Final = 200
"""Parentheses and functions inside one another."""
LONGEST: Final = 100_000
"""Characters of an expression."""

StepKind = Literal["revision", "range", "call", "not", "and", "or"]

FUNCTIONS: Final[dict[str, Literal["nothing", "set", "revision", "text"]]] = {
    "all": "nothing",
    "heads": "nothing",
    "fork_points": "nothing",
    "branches": "nothing",
    "labels": "nothing",
    "tags": "nothing",
    "error": "nothing",
    "ancestors": "set",
    "descendants": "set",
    "branch": "revision",
    "role": "text",
    "type": "text",
    "tool": "text",
    "file": "text",
    "text": "text",
    "after": "text",
    "before": "text",
}
"""Functions, and what stands in their parentheses."""

_SPACE: Final = " \t\r\n"
_ENDS_WORD: Final = frozenset(_SPACE + "()&|,")
_PRECEDENCE: Final = {"or": 1, "and": 2, "not": 3}
_SIGNS: Final[dict[str, StepKind]] = {"&": "and", "|": "or"}
_EXAMPLES: Final = "as in 'role(user) & ancestors(HEAD)'; a name with spaces or signs is typed in quotes"


class Step(NamedTuple):
    """One step: a revision, a range (`text` is its left side, `argument` its dots and its right side), a function with
    its argument, an operator.

    `position` is where it stands in the text, `inner` where its argument does, for errors. The argument of a function
    over sets is on the stack.
    """

    kind: StepKind
    text: str
    position: int
    argument: str = ""
    inner: int = 0


class BadExpression(InputError):
    """An expression that cannot be read, or that means nothing; `position` is the place in `text`, from 0."""

    has_lines = True

    def __init__(self, text: str, position: int, why: str, *, hint: str | None = None) -> None:
        begin = max(0, position - 60)
        shown = "".join(char if char.isprintable() else " " for char in text[begin : position + 60])
        lead = "…" if begin else ""
        super().__init__(f"{why}\n  {lead}{shown}\n  {' ' * (len(lead) + position - begin)}^", hint=hint or _EXAMPLES)
        self.text = text
        self.position = position


def parse(text: str) -> list[Step]:
    """Return the steps of an expression. Raises `BadExpression`."""
    return _Parser(text).steps()


@dataclass(slots=True)
class _Open:
    """An operator or a parenthesis that waits for its right side; a function with its parenthesis is one."""

    kind: Literal["(", "call", "not", "and", "or"]
    text: str
    position: int


class _Parser:
    """Operator precedence with two stacks, as Dijkstra's shunting yard."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.done: list[Step] = []
        self.waiting: list[_Open] = []
        self.depth = 0

    def steps(self) -> list[Step]:
        if len(self.text) > LONGEST:
            raise self._error(LONGEST, f"an expression has at most {LONGEST:,} characters")
        wants_operand = True
        while self._skip_space():
            wants_operand = self._operand() if wants_operand else self._operator()
        if wants_operand:
            raise self._error(len(self.text), "an expression ends where a revision or a function is due")
        self._reduce(0)
        if self.waiting:
            raise self._error(self.waiting[-1].position, "a parenthesis is not closed")
        return self.done

    def _error(self, position: int, why: str, hint: str | None = None) -> BadExpression:
        return BadExpression(self.text, position, why, hint=hint)

    def _skip_space(self) -> bool:
        while self.at < len(self.text) and self.text[self.at] in _SPACE:
            self.at += 1
        return self.at < len(self.text)

    def _operand(self) -> bool:
        """Read what a set begins with; returns whether it is still due."""
        begin, char = self.at, self.text[self.at]
        if char == "(":
            self._open("(", "", begin)
            self.at += 1
            return True
        if char in "&|,)":
            why = f"'{char}' stands where a revision or a function is due"
            raise self._error(begin, why)
        word = self._word()
        if self.text[self.at : self.at + 1] == "(" and "(" not in word:
            return self._function(word, begin)
        if word == "not":
            self.waiting.append(_Open("not", "not", begin))
            return True
        if word.startswith("~"):
            raise self._error(begin, "'~' follows a name and goes to its ancestors", "complement is `not`")
        self._revision_or_range(word, begin)
        return False

    def _revision_or_range(self, left: str, begin: int) -> None:
        sign = self._range_sign()
        if not sign:
            self.done.append(Step("revision", left, begin))
            return
        self.at += len(sign)
        inner = self.at
        right = self._word()
        if self._range_sign():
            raise self._error(self.at, "a range has two ends")
        if self.text[self.at : self.at + 1] == "(":
            raise self._error(self.at, "a range is between two revisions, not sets")
        self.done.append(Step("range", left or "HEAD", begin, f"{sign} {right or 'HEAD'}", inner))

    def _range_sign(self) -> str:
        if not self.text.startswith("..", self.at):
            return ""
        sign = "..." if self.text.startswith("...", self.at) else ".."
        if self.text.startswith(".", self.at + len(sign)):
            raise self._error(self.at, "a range has two or three dots")
        return sign

    def _word(self) -> str:
        """Read up to a space, a sign or the dots of a range; what is in quotes belongs to the word as it is."""
        begin = self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self._quoted()
            elif char in _ENDS_WORD or self.text.startswith("..", self.at):
                break
            else:
                self.at += 1
        return self.text[begin : self.at]

    def _quoted(self) -> str:
        """Read a text in quotes, which may be of either kind; returns what is in them."""
        begin, quote = self.at, self.text[self.at]
        self.at += 1
        inside: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == quote:
                self.at += 1
                return "".join(inside)
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in (quote, "\\"):
                self.at += 1
                char = self.text[self.at]
            inside.append(char)
            self.at += 1
        raise self._error(begin, "a quote is not closed")

    def _function(self, name: str, begin: int) -> bool:
        takes = FUNCTIONS.get(name)
        if takes is None:
            if name == "not":
                self.waiting.append(_Open("not", "not", begin))
                return True
            if not name.isidentifier():
                raise self._error(self.at, "'(' stands where an operator is due")
            raise self._error(begin, f"there is no function '{name}'", _like(name))
        self.at += 1
        if takes == "set":
            self._open("call", name, begin)
            return True
        inner = self.at + (self.text[self.at : self.at + 1] in _SPACE)
        argument = self._argument(name, begin)
        if takes == "nothing" and argument:
            raise self._error(begin, f"'{name}' takes nothing in its parentheses")
        if takes != "nothing" and not argument:
            raise self._error(begin, f"'{name}' needs something in its parentheses", _argument_hint(name))
        self.done.append(Step("call", name, begin, argument, inner))
        return False

    def _argument(self, name: str, begin: int) -> str:
        """Read a text up to the parenthesis that closes it: in quotes, or as it stands with its own in pairs."""
        self._skip_space()
        start = self.at
        if self.text[start : start + 1] in ("'", '"') and FUNCTIONS[name] == "text":
            argument = self._quoted()
            self._skip_space()
            if self.text[self.at : self.at + 1] != ")":
                raise self._error(self.at, f"')' is missing after the text of '{name}'")
            self.at += 1
            return argument
        depth = 1
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"' and FUNCTIONS[name] == "revision":
                self._quoted()
                continue
            if char == "\\" and FUNCTIONS[name] == "text":
                self.at += 2  # `\(` in a regular expression opens nothing
                continue
            depth += {"(": 1, ")": -1}.get(char, 0)
            self.at += 1
            if not depth:
                return self.text[start : self.at - 1].strip()
        raise self._error(begin + len(name), f"the parenthesis of '{name}' is not closed")

    def _open(self, kind: Literal["(", "call"], text: str, position: int) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self._error(position, f"more than {DEEPEST} parentheses are inside one another")
        self.waiting.append(_Open(kind, text, position))

    def _operator(self) -> bool:
        """Read what follows a set; returns whether a set is due after it."""
        begin, char = self.at, self.text[self.at]
        if char == ")":
            self._close(begin)
            self.at += 1
            return False
        kind = _SIGNS.get(char)
        if kind is not None:
            self.at += 1
            if self.text[self.at : self.at + 1] == char:
                raise self._error(self.at, f"'{char}' is typed once")
            self._reduce(_PRECEDENCE[kind])
            self.waiting.append(_Open("and" if kind == "and" else "or", char, begin))
            return True
        if self._range_sign():
            raise self._error(begin, "a range is between two revisions, not sets, without spaces")
        word = "" if char == "(" else self._word() or char
        hints = {"and": "`&` is meant", "or": "`|` is meant", "not": "`& not` is meant", "-": "`& not` is meant"}
        raise self._error(begin, f"'{word or char}' stands where an operator is due", hints.get(word.lower()))

    def _reduce(self, precedence: int) -> None:
        """Do the waiting operators that bind at least as closely."""
        while self.waiting and _PRECEDENCE.get(self.waiting[-1].kind, 0) >= max(precedence, 1):
            ready = self.waiting.pop()
            assert ready.kind in ("not", "and", "or")
            self.done.append(Step(ready.kind, ready.text, ready.position))

    def _close(self, position: int) -> None:
        self._reduce(0)
        if not self.waiting:
            raise self._error(position, "')' closes nothing")
        opened = self.waiting.pop()
        self.depth -= 1
        if opened.kind == "call":
            self.done.append(Step("call", opened.text, opened.position))


def _like(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, FUNCTIONS, n=1)
    if close:
        return f"did you mean '{close[0]}'?"
    return "functions are " + ", ".join(sorted(FUNCTIONS))


def _argument_hint(name: str) -> str:
    examples = {
        "role": "role(user)", "type": "type(compaction)", "tool": "tool(edit)", "file": "file(src/*.py)",
        "text": 'text("time ?out")', "after": "after(2 days ago)", "before": "before(2026-02-03)",
        "branch": "branch(main)",
    }  # fmt: skip
    return f"as in {examples[name]}"
