"""Links and citations lead somewhere, the README can be followed, and the list of modules is complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate import PACKAGE, ROOT, modules, pages, with_modules

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def all_pages() -> list[Path]:
    return [*pages(), ROOT / "CHANGELOG.md"]


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        name, _, fragment = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        if fragment:
            assert fragment in map(anchor, _HEADING.findall(target.read_text(encoding="utf-8"))), link


@pytest.mark.parametrize("name", ["run", "test"])
def test_readme_has_one_command_for_each_set_up(name: str) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count(f"<!-- setup:{name} -->") == 1
    block = re.search(rf"<!-- setup:{name} -->\n\n```sh\n(.*?)```", text, re.DOTALL)
    assert block is not None
    assert len(block[1].splitlines()) == 1


def test_architecture_names_every_module_and_folder() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert with_modules(text) == text, "out of date: python -m docs.generate"
    named = set(re.findall(r"^\| `([\w/]+\.py)` \| \S", text, re.MULTILINE))
    assert named >= {path.relative_to(PACKAGE).as_posix() for path in modules()}
    folders = set(re.findall(r"^\| `(\w+/)` \| \S", text, re.MULTILINE))
    assert folders == {f"{path.parent.name}/" for path in modules() if path.parent != PACKAGE}


def test_sections_that_are_cited_exist() -> None:
    pi_format = (ROOT / "docs" / "pi-format.md").read_text(encoding="utf-8")
    numbers = set(re.findall(r"^##+ (\d+(?:\.\d+)?)\.? ", pi_format, re.MULTILINE))
    headings = set(re.findall(r"^## \d+\. (.+)$", (ROOT / "docs" / "format.md").read_text("utf-8"), re.MULTILINE))
    assert {str(number) for number in range(1, 22)} <= numbers
    cited = 0
    for path in [*modules(), *pages()]:
        text = path.read_text(encoding="utf-8")
        for citation in re.findall(r"\bformat (\d+(?:\.\d+)?(?:(?:, | and )\d+(?:\.\d+)?)*)", text):
            assert set(re.split(r", | and ", citation)) <= numbers, f"{path.name}: {citation}"
            cited += 1
        for heading in re.findall(r'`docs/format\.md`, "([^"]+)"', text):
            assert heading in headings, f"{path.name}: {heading}"
            cited += 1
    assert cited > 20
