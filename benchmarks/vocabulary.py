"""Made-up text of the kinds that sessions hold: prose, code, and output of commands.

Lines are built once per `Vocabulary` and then picked in runs, a part of them freshly altered. That keeps the
generator fast while no two texts are equal, and a compressor meets about as much repetition as in real sessions.
"""

from __future__ import annotations

from random import Random


def _list(text: str) -> list[str]:
    return text.split()


COMMON = _list(
    "the a to of and in is that it for on with as this be are from by not when if then so but only one all more "
    "first next same other each before after now still already again because while which there here we you I"
)
TECHNICAL = _list(
    "file test function class return import value error path name index node parent branch commit tree store hash "
    "line entry session message tool call result cache query parser lexer token buffer stream reader writer header "
    "config option default string number array object map list set key queue worker thread lock retry timeout "
    "handler request response client server socket schema table column record field type module package build "
    "release version check lint format fixture mock assertion coverage failure fallback migration backend renderer "
    "layout widget theme editor terminal cursor shortcut plugin hook event listener callback promise iterator"
)
VERBS = _list(
    "read write open close parse check fix update move rename split merge build run test handle return raise skip "
    "keep drop add remove replace call load save flush retry fail pass collect resolve render measure compare"
)
SYLLABLES = (
    "al", "an", "ar", "ba", "be", "bi", "ca", "co", "da", "de", "do", "en", "er", "fa", "fe", "ga", "in", "ir", "ka",
    "la", "le", "li", "lo", "ma", "me", "mi", "na", "no", "or", "pa", "pe", "po", "ra", "re", "ri",
)  # fmt: skip
# One line in some has characters beyond ASCII, as models like to write them.
DECORATED = ("→", "—", "…", "✓", "“as is”", "≤", "naïve", "Größe", "日本語", "🙂")

CODE = (
    "import {{ {Name}, {name2} }} from './{name3}.js';",
    "export function {name}({name2}, {name3} = {number}) {{",
    "    const {name} = {name2}.{verb}({name3}, {number});",
    "    if ({name} === undefined || {name2}.length > {number}) {{",
    "        throw new Error('cannot {verb} {name} of ' + {name2});",
    "    }}",
    "    for (const {name} of {name2}.{verb}()) {{",
    "        {name2}.{verb}{Name}({name}, '{name3}');",
    "    return {name}.{verb}({name2}) ?? {number};",
    "}}",
    "",
    "    // {prose}",
    "    await this.{name}.{verb}{Name}({{ {name2}: {number}, {name3}: true }});",
    "class {Name} extends {Name2} {{",
    "    private {name}: Map<string, {Name2}> = new Map();",
    "    this.{name} = {name2}.{verb}({name3});",
)
OUTPUT = (
    "src/{name}/{name2}.ts:{number}:    const {name3} = {name2}.{verb}({name});",
    "src/{name}/{name2}.ts({number},{number2}): error TS2{number}: Property '{name3}' does not exist on type '{Name}'.",
    " ok {name} > {prose} ({number} ms)",
    "   at {Name}.{verb}{Name2} (src/{name}/{name2}.ts:{number}:{number2})",
    "-rw-r--r-- 1 dev dev {number} Feb {number2} {name}-{name2}.ts",
    "{name}.{name2}.{verb}: {number} of {number} in {number2} ms",
    "[{Name}] {verb} {name2} {name3}: {prose}",
    "{hex} {prose}",
    "",
)


class Vocabulary:
    """Words and lines made from a random source; the same source state gives the same text."""

    def __init__(self, random: Random, *, pool: int = 12_000) -> None:
        self._random = random
        invented = {
            "".join(random.choices(SYLLABLES, k=random.choice((2, 2, 3, 3, 4)))) for _ in range(1200)
        }
        self.names = sorted(invented) + [a + b.capitalize() for a in VERBS for b in TECHNICAL[::3]]
        self._words = COMMON * 6 + TECHNICAL * 3 + VERBS * 2 + sorted(invented)
        self._near = self._words
        self._pools = {
            "prose": [self._prose_line(at) for at in range(pool)],
            "code": self._filled_lines(CODE, pool),
            "output": self._filled_lines(OUTPUT, pool),
        }

    def words(self, low: int, high: int) -> str:
        """Some words in a row, at least `low` and at most `high`."""
        return " ".join(self._random.choices(self._words, k=self._random.randint(low, high)))

    def name(self) -> str:
        """One identifier."""
        return self._random.choice(self.names)

    def text(self, kind: str, lines: float) -> str:
        """A text of `lines` lines on average (many short, few long) of kind "prose", "code" or "output"."""
        random, pool = self._random, self._pools[kind]
        count = min(400, 1 + int(random.expovariate(1 / lines)))
        start = random.randrange(len(pool) - 400)
        picked = pool[start : start + count]
        for _ in range(1 + count // 8):
            at = random.randrange(count)
            line = random.choice(pool)
            half = random.randrange(len(line) + 1)
            picked[at] = f"{line[:half]}{random.choice(self.names)}{random.getrandbits(16)}{picked[at][half:]}"
        return "\n".join(picked)

    def _prose_line(self, at: int) -> str:
        random = self._random
        if at % 40 == 0:  # lines near each other speak of the same few things
            names = random.sample(TECHNICAL, k=20) + random.sample(VERBS, k=8) + random.sample(self.names, k=10)
            self._near = COMMON[::2] * 2 + names
        if random.random() < 0.06:
            return ""
        line = " ".join(random.choices(self._near, k=random.randint(5, 16))).capitalize() + random.choice(".....:,?")
        shape = random.random()
        if shape < 0.12:
            line = f"- `{self.name()}`: {line}"
        elif shape < 0.14:
            line = f"{random.choice(DECORATED)} {line}"
        elif shape < 0.16:
            line = f"## {line}"
        return line

    def _filled_lines(self, templates: tuple[str, ...], count: int) -> list[str]:
        random, lines = self._random, []
        for at in range(count):
            if at % 40 == 0:
                near = random.sample(self.names, k=12)
            name, name2, name3 = random.choices(near, k=3)
            depth = "" if templates is OUTPUT else "    " * random.choice((0, 0, 1, 1, 2, 3))
            lines.append(
                depth
                + random.choice(templates).format(
                    name=name,
                    name2=name2,
                    name3=name3,
                    Name=name[0].upper() + name[1:],
                    Name2=name2[0].upper() + name2[1:],
                    verb=random.choice(VERBS),
                    number=random.randrange(400),
                    number2=random.randrange(1, 29),
                    hex=f"{random.getrandbits(28):07x}",
                    prose=self.words(3, 8),
                )
            )
        return lines
