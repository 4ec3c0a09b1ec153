"""Which texts are secrets, beyond what the library knows: tokens that can be told by how they begin, and private keys.

A word rule is about a secret without white space that has a fixed text in it; it is looked for in long words only. The
forms are those that the issuers document, mostly so that such a search can find them.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import zip_longest
from typing import Final, NamedTuple

from pivcs.ops.scan_values import is_made_up, is_varied

SHORTEST_WORD: Final = 16
"""Words with fewer characters are not looked at."""

_BEFORE = r"(?<![A-Za-z0-9])"
"""What must stand before a beginning that words may have inside."""

_ESCAPED_SPACE = re.compile(r"\\[nrt]")


def spaced(text: str) -> str:
    """Return a text with spaces for `\\n` and its like, which code has, and texts that hold JSON: the letter is no part
    of the word behind it. Places stay as they are."""
    return _ESCAPED_SPACE.sub("  ", text) if "\\" in text else text


_COLOURS: Final = {
    "\x1b": re.compile(r"\x1b(?:\[[0-9;:?]{0,40}[A-Za-z]|[()][A-Z0-9])"),
    "\x9b": re.compile(r"\x9b[0-9;:?]{0,40}[A-Za-z]"),
    "\\": re.compile(r"\\(?:x1b|u001b|033|e)\[[0-9;:?]{0,40}[A-Za-z]", re.IGNORECASE),
}
"""Sequences that set colours or move about in a line, as they are and as code and JSON in a text have them."""


def uncoloured(text: str) -> str:
    """Return a text with spaces for what sets colours, which may stand between a name and its value. Places stay."""
    for sign, pattern in _COLOURS.items():
        if sign in text:
            text = pattern.sub(lambda found: " " * len(found[0]), text)
    return text


Patterns = Callable[[], Sequence[re.Pattern[str]]]
"""Gives the patterns of a rule, which are made when a text may have what they look for."""


class WordRule(NamedTuple):
    """A rule about words: one of `keywords` (in lower case) is in each secret that `patterns` find, and `accept` has
    the last word. The secret is the pattern's group `secret`, or all of it."""

    name: str
    keywords: Sequence[str]
    patterns: Patterns
    accept: Callable[[re.Match[str]], bool] | None = None


class LineRule(NamedTuple):
    """A rule about lines that name a kind of secret (`TRIGGERS` in `scan_text`), and `words`, one of which must be in
    the line as well, in lower case."""

    name: str
    words: Sequence[str]
    patterns: Patterns
    accept: Callable[[re.Match[str]], bool] | None = None


def _rule(name: str, keywords: str, pattern: str, accept: Callable[[re.Match[str]], bool] | None = None) -> WordRule:
    return WordRule(name, keywords.split(), cache(lambda: (re.compile(pattern),)), accept)


def _varied(found: re.Match[str]) -> bool:
    """Whether a secret that is told only by a short beginning looks like a random one."""
    return is_varied(found[0], 3.5)


def _no_example(found: re.Match[str]) -> bool:
    """Whether an address with a password is no example, and has no placeholder in it."""
    user, password, host = found[1], found[2], found[3].lower()
    if is_made_up(password) or password.lower() in (user.lower(), "pass", "pw", "pwd", "password", "passwd", "secret"):
        return False
    return not host.endswith(("example.com", "example.net", "example.org", ".example", ".test", ".invalid"))


def _is_token(found: re.Match[str]) -> bool:
    """Whether what looks like a JSON web token begins with a header that says how it is signed."""
    header = found[0].partition(".")[0]
    try:
        value = json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "alg" in value


WORD_RULES: Final[tuple[WordRule, ...]] = (
    _rule("github-fine-grained-token", "github_pat_", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    _rule("gitlab-token", "glpat- gldt- glrt- glsoat- glptt- glcbt- glft- glimt- glagent-",
          r"gl(?:pat|dt|rt|soat|ptt|cbt|ft|imt|agent)-[A-Za-z0-9_-]{20,300}(?:\.[A-Za-z0-9]{2,12}){0,2}"),
    _rule("google-api-key", "aiza", r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    _rule("google-oauth-secret", "gocspx-", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    _rule("google-oauth-token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
    _rule("anthropic-key", "sk-ant-", r"sk-ant-[a-z0-9]{2,12}-[A-Za-z0-9_-]{20,}"),
    _rule("openai-key", "t3blbkfj", r"sk-[A-Za-z0-9_-]{16,180}T3BlbkFJ[A-Za-z0-9_-]{16,180}"),
    _rule("openai-key", "sk-proj- sk-svcacct- sk-admin-", r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}"),
    _rule("openrouter-key", "sk-or-", r"sk-or-(?:v1-)?[A-Za-z0-9]{32,}"),
    _rule("xai-key", "xai-", _BEFORE + r"xai-[A-Za-z0-9]{60,}"),
    _rule("groq-key", "gsk_", _BEFORE + r"gsk_[A-Za-z0-9]{40,}"),
    _rule("hugging-face-token", "hf_", _BEFORE + r"hf_[A-Za-z0-9]{30,}"),
    _rule("perplexity-key", "pplx-", _BEFORE + r"pplx-[A-Za-z0-9]{40,}"),
    _rule("sk-key", "sk-", _BEFORE + r"sk-[A-Za-z0-9]{32,}(?![A-Za-z0-9_-])", _varied),
    _rule("pypi-token", "pypi-ag", r"pypi-Ag[A-Za-z0-9_-]{50,}"),
    _rule("slack-app-token", "xapp-", r"xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-f0-9]{32,}"),
    _rule("slack-session-token", "xoxc- xoxd- xoxe", r"xox[cde](?:\.xox[bp])?-[A-Za-z0-9%-]{20,}"),
    _rule("stripe-webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24,}"),
    _rule("docker-token", "dckr_pat_ dckr_oat_", r"dckr_[op]at_[A-Za-z0-9_-]{27,}"),
    _rule("digitalocean-token", "dop_v1_ doo_v1_", r"do[op]_v1_[a-f0-9]{64}"),
    _rule("databricks-token", "dapi", _BEFORE + r"dapi[0-9a-f]{32}(?:-[0-9])?(?![0-9a-f])"),
    _rule("atlassian-token", "atatt3", r"ATATT3[A-Za-z0-9_=-]{100,}"),
    _rule("json-web-token", "eyj",
          r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}", _is_token),
    _rule("linear-key", "lin_api_", r"lin_api_[A-Za-z0-9]{40}"),
    _rule("notion-token", "ntn_", _BEFORE + r"ntn_[A-Za-z0-9]{40,}"),
    _rule("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _rule("vault-token", "hvs. hvb.", _BEFORE + r"hv[sb]\.[A-Za-z0-9_-]{24,}", _varied),
    _rule("age-secret-key", "age-secret-key-1", r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    _rule("tailscale-key", "tskey-", r"tskey-[a-z]{2,12}-[A-Za-z0-9-]{16,}"),
    _rule("sentry-token", "sntrys_", r"sntrys_[A-Za-z0-9+/=_-]{40,}"),
    _rule("grafana-token", "glsa_ glc_", r"(?:glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}|glc_eyJ[A-Za-z0-9+/=]{32,})"),
    _rule("telegram-bot-token", ":aa", r"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"),
    _rule("azure-account-key", "accountkey=", r"(?i:AccountKey)=(?P<secret>[A-Za-z0-9+/]{86}==)"),
    _rule("connection-string", "://",
          r"://([^\s:/?#@\"'`<>\[\]\\]{0,64}):(?P<secret>[^\s/@\"'`<>\\]{3,128})@([\w.\[:-]+)", _no_example),
)  # fmt: skip

_KEY_HEAD = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-[23]:")
_KEY_LINE = re.compile(r"[A-Za-z0-9+/]{38,}")
_LONGEST_KEY: Final = 1 << 14
_HEAD_LINES: Final = 400
"""Characters that lines of PEM or PuTTY may take between the beginning of a key and its data."""


def private_keys(text: str) -> list[tuple[int, int, str]]:
    """Return start, end and data of the private keys in a text, also where line ends in it are written as `\\n`."""
    found = []
    text = spaced(text)
    heads = list(_KEY_HEAD.finditer(text))
    for head, following in zip_longest(heads, heads[1:]):
        end = min(head.end() + _LONGEST_KEY, len(text) if following is None else following.start())
        stop = text.find("-----", head.end(), end)
        if head[0].startswith("PuTTY"):
            stop = text.find("Private-MAC:", head.end(), end)
        end = stop if stop >= 0 else end
        lines = list(_KEY_LINE.finditer(text, head.end(), end))
        if lines and lines[0].start() - head.end() < _HEAD_LINES:
            found.append((head.start(), lines[-1].end(), "".join(line[0] for line in lines)))
    return found
