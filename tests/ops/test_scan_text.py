"""Which texts are taken for secrets."""

from __future__ import annotations

import pytest

from pivcs.ops.scan_text import Hit, find_secrets, rule_names
from tests.ops.made_secrets import ANTHROPIC, AWS, GITHUB, HARMLESS, KEY_BLOCK, PASSWORD, SECRETS, SHORT, some

EXAMPLES = [(rule, text) for rule, texts in SECRETS.items() for text in texts]


def rules_of(text: str) -> list[str]:
    return [hit.rule for hit in find_secrets([text])]


def test_every_rule_has_an_example():
    assert sorted(SECRETS) == list(rule_names())


@pytest.mark.parametrize(("rule", "text"), EXAMPLES, ids=[f"{rule}-{at}" for at, (rule, _) in enumerate(EXAMPLES)])
def test_secret_is_found_by_its_rule_alone(rule: str, text: str):
    assert rules_of(text) == [rule]
    assert rules_of(f"before {text} behind\nand more") == [rule]


@pytest.mark.parametrize("text", HARMLESS, ids=range(len(HARMLESS)))
def test_harmless_text_is_no_finding(text: str):
    assert rules_of(text) == []
    assert rules_of(f"so {text}, and\n{text}\nagain") == []


COLOURED = [
    "password\x1b[0m: \x1b[31m{}\x1b[0m",
    '\x1b[0m\x1b[34;1m"password"\x1b[0m\x1b[1;39m:\x1b[0m \x1b[0;32m"{}"\x1b[0m',  # jq
    "\x1b[01;31m\x1b[Kpassword\x1b[m\x1b[K={}",  # grep
    "\x1b[1mDB_PASSWORD\x1b(B\x1b[m=\x1b[38;2;255;100;0m{}\x1b(B\x1b[m",  # tput
    "password\x9b0m: \x9b31m{}",
    "password\\u001b[0m: \\u001B[31m{}\\u001b[0m",
    "password\\x1b[0m: \\033[31m{}\\e[0m",
    "curl -u \x1b[4madmin:{}\x1b[0m https://x",
]


@pytest.mark.parametrize("coloured", COLOURED)
def test_colours_are_no_part_of_a_secret_and_do_not_hide_it(coloured: str):
    text = "\u00e9\x1b[1mx\n" + coloured.format(SHORT)
    (hit,) = find_secrets([text])
    assert text[hit.start : hit.end] == hit.secret == SHORT
    assert coloured.format(GITHUB).count(find_secrets([coloured.format(GITHUB)])[0].secret) == 1


def test_secret_has_one_fingerprint_as_argument_and_in_settings():
    texts = [f"password={SHORT}", f"curl -u me:{SHORT} x", f"machine x login me password {SHORT}", f"pwd: '{SHORT}'"]
    assert len({hit.fingerprint() for hit in find_secrets(texts)}) == 1
    assert [hit.text for hit in find_secrets(texts)] == [0, 1, 2, 3]


@pytest.mark.parametrize("value", [SHORT, f"'{SHORT}'", f'"{SHORT}"'])
def test_each_command_of_many_is_looked_at(value: str):
    text = f"curl https://x\ncurl -u me:{value} https://x && mysql -p{value} ; curl -v\nmysql; curl --user me:{value}"
    assert [text[hit.start : hit.end] for hit in find_secrets([text])] == [SHORT] * 3


AROUND = ['"{}"', "\\n{}\\n", '\\"{}\\"', "'{}'", "`{}`", "<{}>", "({})", "={},", "\t{}\r\n", "—{}…"]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("secret", [GITHUB, ANTHROPIC, AWS], ids=["github", "anthropic", "aws"])
def test_what_stands_around_a_secret_does_not_belong_to_it(secret: str, around: str):
    text = around.format(secret)
    (hit,) = find_secrets([text])
    assert text[hit.start : hit.end] == hit.secret == secret


def test_secrets_are_told_text_by_text_and_by_place():
    hits = find_secrets(["nothing", f"{GITHUB} {AWS}", "", f"\n\n{GITHUB}"])
    assert [(hit.text, hit.rule) for hit in hits] == [(1, "github-token"), (1, "aws-key"), (3, "github-token")]
    assert hits[2].start == 2


def test_nothing_is_found_across_texts():
    assert find_secrets([GITHUB[:20], GITHUB[20:], "password = ", f'"{PASSWORD}"']) == []
    assert find_secrets([KEY_BLOCK[:40], KEY_BLOCK[40:]]) == []
    assert find_secrets(["curl \\", f" -u me:{SHORT}", "machine x.io login me", f"password {SHORT}"]) == []


def test_secret_has_one_fingerprint_wherever_it_stands():
    alone, inside = find_secrets([GITHUB])[0], find_secrets([f"a\nb={GITHUB}, c"])[0]
    assert alone.fingerprint() == inside.fingerprint()
    assert len(alone.fingerprint()) == 16
    escaped, plain = find_secrets([KEY_BLOCK.replace("\n", "\\n")])[0], find_secrets([KEY_BLOCK])[0]
    assert escaped.fingerprint() == plain.fingerprint()


def test_fingerprint_is_about_rule_and_secret():
    hit = Hit(0, 0, 3, "rule", "abc")
    assert hit.fingerprint() != hit._replace(rule="other").fingerprint()
    assert hit.fingerprint() != hit._replace(secret="abd").fingerprint()
    assert hit.fingerprint() == hit._replace(start=1, text=2).fingerprint()


@pytest.mark.parametrize(("rule", "text"), EXAMPLES, ids=[f"{rule}-{at}" for at, (rule, _) in enumerate(EXAMPLES)])
def test_excerpt_shows_no_more_than_a_quarter(rule: str, text: str):
    (hit,) = find_secrets([text])
    shown = hit.excerpt().partition("…")[0]
    assert hit.secret.startswith(shown)
    assert len(shown) <= min(4, len(hit.secret) // 4)


def test_value_of_a_secret_name_is_a_secret():
    names = ["password", "apiKey", "note", None, "token", "tokenCount"]
    values = [PASSWORD, some(20), some(20), some(20), "a-word", some(20)]
    assert [hit.text for hit in find_secrets(values, names)] == [0, 1]


def test_named_secret_of_a_known_kind_is_found_once():
    assert [hit.rule for hit in find_secrets([GITHUB], ["token"])] == ["github-token"]
    assert rules_of(f'token = "{GITHUB}"') == ["github-token"]


def test_secret_in_a_line_of_a_million_characters_is_found():
    filler = "x = y; " * 150_000
    (hit,) = find_secrets([f'{filler}password = "{PASSWORD}"; {filler}'])
    assert hit.secret == PASSWORD
    (hit,) = find_secrets(["a" * 1_000_000 + GITHUB])
    assert hit.secret == GITHUB


def test_capital_that_grows_in_lower_case_does_not_move_places():
    text = "\u0130" * 50 + f" password = '{PASSWORD}' " + "\u0130" * 50 + f" {AWS}"
    assert [text[hit.start : hit.end] for hit in find_secrets([text])] == [PASSWORD, AWS]


def test_lone_surrogates_and_characters_beyond_the_first_plane_do_no_harm():
    text = f"\ud800 \U0001f600 {GITHUB}\udfff"
    (hit,) = find_secrets([text])
    assert text[hit.start : hit.end] == GITHUB


def test_same_word_twice_is_found_twice():
    text = f"{GITHUB} {GITHUB}"
    assert [hit.start for hit in find_secrets([text])] == [0, len(GITHUB) + 1]


@pytest.mark.parametrize("filler", ["a", "é", "\U0001f600", "sk-", "eyJ", "://", "key=", "-us"])
def test_secrets_in_very_long_words_are_found_wherever_they_stand(filler: str):
    for count in (100, 4000, 8190, 9000):
        text = filler * count + "." + GITHUB + "." + filler * 5000 + "." + ANTHROPIC + "." + filler * 300
        hits = find_secrets([text])
        assert [text[hit.start : hit.end] for hit in hits] == [GITHUB, ANTHROPIC]


def test_many_secrets_are_found_each_at_its_place():
    secrets = [f"gh{'p'}_{some(36)}" for _ in range(3000)]
    text = "é ".join(secrets)
    assert [text[hit.start : hit.end] for hit in find_secrets([text])] == secrets
