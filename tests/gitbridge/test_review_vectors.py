"""Review commits have the ids in `tests/vectors/git_review_commits.json`: a changed vector is a changed mapping."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.review import write_review
from pivcs.gitbridge.review_options import Granularity, ReviewOptions, parse_person
from pivcs.gitbridge.review_text import MAPPING
from tests.ops.views import view_of

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "git_review_commits.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("vector", VECTORS["sessions"], ids=lambda vector: vector["name"])
@pytest.mark.parametrize("granularity", Granularity)
def test_commits_have_these_ids(vector: dict[str, object], granularity: Granularity, tmp_path: Path):
    assert VECTORS["vectors"] == MAPPING
    view = view_of("".join(vector["lines"]).encode())  # type: ignore[arg-type]
    person = parse_person(VECTORS["author"]) if vector["name"] == "named" else ReviewOptions().person
    options = ReviewOptions(granularity, person=person)
    with PackWriter(tmp_path) as writer:
        found = [
            [view.table.name(each.row), view.table.object_id(each.row).hex, each.commit.hex() if each.commit else None]
            for each in write_review(view, writer, options=options)
        ]
    assert found == vector[granularity.value]
