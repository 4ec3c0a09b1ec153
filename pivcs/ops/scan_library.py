"""The rules of the library `detect_secrets`, without its driver, which reads files line by line with each rule.

Importing it takes a fifth of a second (it imports `requests`, to ask services whether a secret works, which is never
done here), so it is imported when a text has a word that its secrets have in them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Final, NamedTuple

from pivcs.ops.scan_rules import LineRule, WordRule

PACKAGE: Final = "bc-detect-secrets"

_HEX_ID = re.compile(r"[0-9a-f]{40}")


class _Plugin(NamedTuple):
    """A class of the library, in a module of the same folder, and what our name for its rule is.

    `keywords`: its secrets are words that have one of these in them. `words`: its lines have one of these, besides a
    word that means a secret.
    """

    name: str
    module: str
    class_name: str
    keywords: str = ""
    words: str = ""
    accept: Callable[[re.Match[str]], bool] | None = None


def _is_key(found: re.Match[str]) -> bool:
    """Whether a match is no id of a commit, which has as many characters as a key of AWS, and none of its manual."""
    secret = found[found.lastindex or 0]
    return _HEX_ID.fullmatch(secret) is None and "EXAMPLE" not in secret


# Left out are classes that find nothing which is a secret of its own (`ip_public`), those that guess by entropy or by
# names (`scan_values` does it for texts that are no source files), and those for which there are better rules in
# `scan_rules`: `private_key`, `basic_auth`, `azure_storage_key`, which takes every SHA-512 of a lock file, and `jwt`,
# which takes very long for what repeats the beginning of one.
_PLUGINS: Final = (
    _Plugin("github-token", "github_token", "GitHubTokenDetector", "ghp_ gho_ ghu_ ghs_ ghr_"),
    _Plugin("aws-key", "aws", "AWSKeyDetector", "akia asia abia acca a3t", "aws", _is_key),
    _Plugin("slack-token", "slack", "SlackDetector", "xoxa- xoxb- xoxp- xoxo- xoxs- xoxr- hooks.slack.com"),
    _Plugin("stripe-key", "stripe", "StripeDetector", "sk_live_ rk_live_"),
    _Plugin("npm-token", "npm", "NpmDetector", "npm_ _authtoken", "npm"),
    _Plugin("sendgrid-key", "sendgrid", "SendGridDetector", "sg."),
    _Plugin("square-secret", "square_oauth", "SquareOAuthDetector", "sq0csp-"),
    _Plugin("mailchimp-key", "mailchimp", "MailchimpDetector", "-us"),
    _Plugin("artifactory-key", "artifactory", "ArtifactoryDetector", words="artif jfrog buildkit"),
    _Plugin("discord-token", "discord", "DiscordBotTokenDetector", words="discord"),
    _Plugin("twilio-key", "twilio", "TwilioKeyDetector", words="twilio"),
    _Plugin("cloudant-key", "cloudant", "CloudantDetector", words="cloudant"),
    _Plugin("ibm-cloud-key", "ibm_cloud_iam", "IbmCloudIamDetector", words="ibm"),
    _Plugin("ibm-storage-key", "ibm_cos_hmac", "IbmCosHmacDetector", words="ibm"),
    _Plugin("softlayer-key", "softlayer", "SoftlayerDetector", words="softlayer"),
)


@lru_cache(maxsize=1)
def library_version() -> str:
    """Return the version of the library that is installed, without importing it."""
    try:
        return version(PACKAGE)
    except PackageNotFoundError:  # another distribution of the same library
        return version("detect-secrets")


@lru_cache(maxsize=1)
def library_rules() -> tuple[tuple[WordRule, ...], tuple[LineRule, ...]]:
    """Return the library's rules about words and about lines."""
    word_rules, line_rules = [], []
    for plugin in _PLUGINS:
        patterns = partial(_patterns, plugin)
        if plugin.keywords:
            word_rules.append(WordRule(plugin.name, plugin.keywords.split(), patterns, plugin.accept))
        if plugin.words:
            line_rules.append(LineRule(plugin.name, plugin.words.split(), patterns, plugin.accept))
    return tuple(word_rules), tuple(line_rules)


@cache
def _patterns(plugin: _Plugin) -> tuple[re.Pattern[str], ...]:
    detector = getattr(import_module(f"detect_secrets.plugins.{plugin.module}"), plugin.class_name)
    return tuple(detector.denylist)
