"""`pivcs scan`, and what export and archive do about secrets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders import build_session, header_line, message_line
from tests.cli.conftest import Program, child_environment
from tests.gitbridge import git as judge
from tests.gitbridge.git import needs_git
from tests.ops.made_secrets import AWS, GITHUB

pytestmark = needs_git


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a session that has two secrets, one of them twice, and one that has none."""
    project, sessions = judge.new_repository(tmp_path / "project"), tmp_path / "sessions"
    sessions.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(sessions))
    (sessions / "clean.jsonl").write_bytes(build_session("a-b", header=header_line("clean", cwd=str(project))))
    (sessions / "leaky.jsonl").write_bytes(
        header_line("leaky", cwd=str(project))
        + message_line("aaaaaaaa", None, "user", f"use {GITHUB}\nand {AWS}")
        + message_line("bbbbbbbb", "aaaaaaaa", "assistant", f"I used {GITHUB}.")
    )
    return project


def fingerprints(pivcs: Program) -> list[str]:
    found = pivcs("scan", "--json").json["findings"]
    return list(dict.fromkeys(each["fingerprint"] for each in found if not each["allowed"]))


def test_counts_and_places_are_shown_and_ids_can_be_typed_back(project: Path, pivcs: Program):
    result = pivcs("scan")
    assert result.code == 1
    assert result.lines[0].startswith("3 possible secrets in 2 sessions of ")
    assert result.lines[2:4] == ["  github-token  2", "  aws-key       1"]
    rows = [line.split() for line in result.lines[6:]]
    assert [row[0] for row in rows] == ["aaaaaaaa", "aaaaaaaa", "bbbbbbbb"]
    for row in rows:
        assert pivcs("show", "-s", "leaky", row[0]).code == 0
    assert GITHUB not in result.text
    assert AWS not in result.text


def test_nothing_found_is_said_with_exit_code_0(project: Path, pivcs: Program):
    result = pivcs("scan", "clean")
    assert result.code == 0
    assert result.text.startswith("no secrets found in 1 session of ")
    assert pivcs("scan", "-s", "clean", "--json").json["findings"] == []


def test_all_looks_through_other_projects(
    project: Path, tmp_path: Path, pivcs: Program, monkeypatch: pytest.MonkeyPatch
):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert pivcs("scan").code == 10
    assert pivcs("scan", "--all").code == 1
    assert "do not go together" in pivcs("scan", "--all", "clean").complaint


def test_rule_chooses_findings(project: Path, pivcs: Program):
    result = pivcs("scan", "--rule", "aws-key")
    assert (result.code, result.lines[0][:17]) == (1, "1 possible secret")
    assert pivcs("scan", "--rule", "npm-token").code == 0
    unknown = pivcs("scan", "--rule", "nope")
    assert unknown.code == 10
    assert "there are age-secret-key, " in unknown.complaint


def test_allowed_secret_is_no_finding_any_more(project: Path, pivcs: Program):
    first, second = fingerprints(pivcs)
    assert pivcs("scan", "--allow", first, "--note", "revoked").text == "1 secret allowed from now on\n"
    assert fingerprints(pivcs) == [second]
    assert pivcs("scan", "--list-allowed").text == f"{first}  store  revoked\n"
    both = pivcs("scan", "--allow", first, second)
    assert both.text == "1 secret allowed from now on\n"
    result = pivcs("scan")
    assert result.code == 0
    assert result.text.endswith(", 3 allowed\n")
    assert [each["allowed"] for each in pivcs("scan", "--json").json["findings"]] == [True] * 3
    assert pivcs("scan", "--disallow", first, second).text == "2 secrets no more allowed\n"
    assert pivcs("scan").code == 1
    assert pivcs("scan", "--list-allowed").text == ""


def test_all_that_is_found_can_be_allowed_at_once(project: Path, pivcs: Program):
    assert pivcs("scan", "--allow-all", "--rule", "github-token").text == "1 secret allowed from now on\n"
    assert pivcs("scan").lines[2] == "  aws-key  1"
    assert pivcs("scan", "--allow-all").code == 0
    assert pivcs("scan").code == 0


def test_file_of_the_project_allows_for_everybody(project: Path, pivcs: Program, monkeypatch: pytest.MonkeyPatch):
    first, second = fingerprints(pivcs)
    (project / ".pivcs-allow").write_text(f"# values of tests\n\n{first} a test's token\n{second}  # old\n")
    assert pivcs("scan").code == 0
    listed = pivcs("scan", "--list-allowed", "--json").json["allowed"]
    assert {each["fingerprint"]: each["note"] for each in listed} == {first: "a test's token", second: "old"}
    assert {each["file"] for each in listed} == {str(project / ".pivcs-allow")}
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub")
    assert pivcs("scan", "leaky").code == 0
    result = pivcs("scan", "--disallow", first)
    assert result.text == "0 secrets no more allowed\n"
    assert f"'{first}' stays allowed by '{project / '.pivcs-allow'}'" in result.complaint


def test_what_is_no_fingerprint_is_refused(project: Path, pivcs: Program):
    for option in ("--allow", "--disallow"):
        result = pivcs("scan", option, "zz", "0123456789abcdef")
        assert result.code == 10
        assert "'zz' is no fingerprint" in result.complaint
    assert pivcs("scan", "--list-allowed").text == ""


def test_fingerprint_that_nothing_has_is_refused_with_all_others(project: Path, pivcs: Program):
    first, _ = fingerprints(pivcs)
    result = pivcs("scan", "--allow", first, "0123456789abcdef")
    assert (result.code, result.text) == (10, "")
    assert "nothing that was found has the fingerprint 0123456789abcdef, so nothing is allowed" in result.complaint
    assert "`pivcs scan` shows what is found" in result.complaint
    assert pivcs("scan", "--list-allowed").text == ""
    assert pivcs("scan", "--allow", first.upper()).text == "1 secret allowed from now on\n"


def test_fingerprint_may_be_that_of_something_that_nobody_looked_for_yet(
    project: Path, tmp_path: Path, pivcs: Program, monkeypatch: pytest.MonkeyPatch
):
    first, second = fingerprints(pivcs)
    monkeypatch.setenv("PIVCS_DIR", str(tmp_path / "another store"))
    assert pivcs("scan", "--allow", first).code == 0
    monkeypatch.chdir(tmp_path)  # of another project, but looked through by now
    assert pivcs("scan", "--allow", second).code == 0


def test_lines_of_the_projects_file_that_are_not_understood_are_named(project: Path, pivcs: Program):
    first, second = fingerprints(pivcs)
    text = f"\ufeff{first.upper()}\ta tab\n# fine\n\n{GITHUB}\n  {second} x\n{first}0\n"
    (project / ".pivcs-allow").write_text(text, encoding="utf-8")
    result = pivcs("scan")
    assert result.code == 0
    said = "it begins with no fingerprint (16 hexadecimal digits), and is passed over"
    file = project / ".pivcs-allow"
    assert result.complaint.splitlines() == [f"warning: '{file}', line {number}: {said}" for number in (4, 6)]
    listed = pivcs("scan", "--list-allowed", "--json")
    assert [each["note"] for each in listed.json["allowed"]] in (["a tab", "x"], ["x", "a tab"])
    assert listed.complaint == result.complaint
    file.unlink()
    file.mkdir()
    result = pivcs("archive")
    assert result.code == 20
    assert f"'{file}' cannot be read, so nothing is allowed by it: " in result.complaint


@pytest.mark.parametrize(
    ("prompt", "shown"), [(f"use {GITHUB} here", "use ghp_… (40) here"), ("word " * 196 + GITHUB, "word word…")]
)
def test_title_with_a_secret_is_shown_without_it(
    project: Path, tmp_path: Path, pivcs: Program, prompt: str, shown: str
):
    (tmp_path / "sessions" / "leaky.jsonl").write_bytes(
        header_line("leaky", cwd=str(project)) + message_line("aaaaaaaa", None, "user", prompt)
    )
    for arguments in (["export", tmp_path / "review"], ["push", "--yes", tmp_path / "review"], ["archive", "--yes"]):
        result = pivcs(*arguments)
        assert result.code == 0
        assert GITHUB[:12] not in result.text + result.complaint
    assert any(line.endswith(shown) for line in result.lines)


def test_ids_and_paths_with_a_secret_are_shown_without_it(project: Path, tmp_path: Path, pivcs: Program):
    data = header_line(GITHUB, cwd=str(project)) + message_line(GITHUB, None, "user", f"use {AWS}")
    (tmp_path / "sessions" / f"2026_{GITHUB}.jsonl").write_bytes(data)
    result, document = pivcs("scan"), pivcs("scan", "--json")
    assert "ghp_… (40)" in [line.split("  ")[0] for line in result.lines]
    assert any(line.endswith("2026_ghp_… (40).jsonl") for line in result.lines)
    assert "ghp_… (40)" in {each["entry"] for each in document.json["findings"]}
    assert GITHUB[:12] not in result.text + document.text


@pytest.mark.parametrize(
    "arguments",
    [
        ["--allow-all", "--list-allowed"],
        ["--allow", "0123456789abcdef", "--disallow", "0123456789abcdef"],
        ["--note", "x"],
        ["--allow-all", "--json"],
    ],
)
def test_options_that_exclude_each_other(project: Path, pivcs: Program, arguments: list[str]):
    assert pivcs("scan", *arguments).code == 2


def test_archive_refuses_and_writes_nothing(project: Path, pivcs: Program):
    result = pivcs("archive")
    assert result.code == 20
    assert "refused because of 3 possible secrets in 1 session: github-token 2, aws-key 1" in result.complaint
    assert "`pivcs scan` shows where" in result.complaint
    assert judge.git(project, "for-each-ref", "refs/pivcs") == b""
    assert judge.git(project, "count-objects").startswith(b"0 objects")
    assert pivcs("archive", "clean").code == 0


def test_archive_goes_on_with_yes_or_when_all_is_allowed(project: Path, pivcs: Program):
    result = pivcs("archive", "--yes")
    assert result.code == 0
    assert "warning: 3 possible secrets in 1 session: " in result.complaint
    assert judge.git(project, "for-each-ref", "refs/pivcs") != b""
    assert pivcs("scan", "--allow-all").code == 0
    quiet = pivcs("archive")
    assert (quiet.code, quiet.complaint) == (0, "")


def test_export_warns_and_goes_on(project: Path, tmp_path: Path, pivcs: Program):
    result = pivcs("export", tmp_path / "review")
    assert result.code == 0
    assert "warning: 3 possible secrets in 1 session: github-token 2, aws-key 1; " in result.complaint
    assert pivcs("export", tmp_path / "other", "clean").complaint == ""


def test_older_generation_counts_before_it_leaves(project: Path, tmp_path: Path, pivcs: Program):
    path = tmp_path / "sessions" / "leaky.jsonl"
    assert pivcs("sync", "--quiet", path).code == 0
    path.write_bytes(header_line("leaky", cwd=str(project)) + message_line("cccccccc", None, "user", "clean now"))
    assert pivcs("archive").code == 20
    assert "aaaaaaaa" in pivcs("scan").text


def test_library_is_imported_only_when_a_text_may_have_what_it_looks_for(project: Path, pivcs: Program):
    program = (
        "import sys; from pivcs.cli import run; code = run(sys.argv[1:]); "
        "print(code, 'detect_secrets' in sys.modules, 'requests' in sys.modules, file=sys.stderr)"
    )
    told = (("clean", 0, "False False"), ("leaky", 1, "True True"), ("leaky", 1, "False False"))
    for session, code, imported in told:
        found = subprocess.run(
            [sys.executable, "-c", program, "scan", session], capture_output=True, env=child_environment(), text=True
        )
        assert found.stderr.strip() == f"{code} {imported}"
