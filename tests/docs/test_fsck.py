"""`docs/fsck.md` lists every finding there is, with its severity."""

from __future__ import annotations

import re

from docs.generate import ROOT
from pivcs.ops.fsck_finding import SEVERITIES

_ROW = re.compile(r"^\| `([a-z0-9-]+)` \| (error|warning|info) \| [^|]+ \| [^|]+ \|$", re.MULTILINE)


def test_every_finding_is_listed_with_its_severity() -> None:
    text = (ROOT / "docs" / "fsck.md").read_text(encoding="utf-8")
    rows = _ROW.findall(text)
    assert dict(rows) == SEVERITIES
    assert len(rows) == len(SEVERITIES)
