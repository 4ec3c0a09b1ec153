"""What JavaScript does with strings where Python differs (pi format 2.3)."""

from __future__ import annotations

JS_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""The characters that `trim` removes. Python's `strip` also takes U+001C to U+001F and U+0085, and leaves U+FEFF."""


def js_trim(text: str) -> str:
    """Return `text.trim()`."""
    return text.strip(JS_SPACE)


def js_number(value: object) -> float:
    """Return what a comparison such as `value < 3` takes a JSON value for; NaN where it is no number.

    Lists and objects, which JavaScript would turn into text first, count as no number.
    """
    if value is None:
        return 0.0
    if isinstance(value, str):
        return _number_of_text(js_trim(value))
    if isinstance(value, (bool, int, float)):
        try:
            return float(value)
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    return float("nan")


def _number_of_text(text: str) -> float:
    if not text:
        return 0.0
    if not text.isascii() or "_" in text or text.lstrip("+-")[:1] not in "0123456789.":
        return float("nan")
    try:
        return float(text)
    except ValueError:
        return float("nan")
