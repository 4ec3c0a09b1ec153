from __future__ import annotations

from pathlib import Path

import pytest

from pivcs.session.layout import (
    AGENT_DIR_VARIABLE,
    SESSION_DIR_VARIABLE,
    SessionDir,
    Surroundings,
    encode_cwd,
    is_session_id,
    read_session_dir_setting,
    session_file_name,
)


def here(windows: bool = False, cwd: str = "/home/dev/project", **environ: str) -> Surroundings:
    return Surroundings(environ=environ, home="/home/dev", cwd=cwd, windows=windows)


ROOT = "/home/dev/.pi/agent/sessions"


@pytest.mark.parametrize(("environ", "agent_dir"), [
    ({}, "/home/dev/.pi/agent"),
    ({AGENT_DIR_VARIABLE: ""}, "/home/dev/.pi/agent"),
    ({AGENT_DIR_VARIABLE: "/srv/pi"}, "/srv/pi"),
    ({AGENT_DIR_VARIABLE: "~/pi"}, "/home/dev/pi"),
    ({AGENT_DIR_VARIABLE: "~"}, "/home/dev"),
    ({AGENT_DIR_VARIABLE: "~other/pi"}, "~other/pi"),
])
def test_agent_directory_comes_from_the_environment(environ: dict[str, str], agent_dir: str) -> None:
    assert here(**environ).agent_dir == agent_dir
    assert here(**environ).sessions_root == f"{agent_dir}/sessions"


@pytest.mark.parametrize(("cwd", "name"), [
    ("/home/dev/project", "--home-dev-project--"),
    ("/", "----"),
    ("//srv/share", "--srv-share--"),
    ("///srv//share/", "--srv-share--"),
    ("~/a/../b", "--home-dev-b--"),
    ("sub/./dir", "--home-dev-project-sub-dir--"),
    ("file:///srv/with%20space", "--srv-with space--"),
    ("/srv/c:d\\e", "--srv-c-d-e--"),
    ("/srv/.项目 x", "--srv-.项目 x--"),
])
def test_working_directory_names_its_directory(cwd: str, name: str) -> None:
    assert here().project_dir(cwd) == f"{ROOT}/{name}"


@pytest.mark.parametrize(("cwd", "name"), [
    ("C:\\Users\\dev\\proj", "--C--Users-dev-proj--"),
    ("c/../x", "--D--work-x--"),
    ("/mnt/c/Users", "--C--Users--"),
    ("/cygdrive/d/x", "--D--x--"),
    ("/c/Users/dev", "--C--Users-dev--"),
    ("\\\\srv\\share\\x", "---srv-share-x--"),
    ("file:///C:/Users", "--C--Users--"),
])
def test_windows_paths_follow_the_same_rule(cwd: str, name: str) -> None:
    assert encode_cwd(here(windows=True, cwd="D:\\work").absolute(cwd)) == name


def test_only_one_leading_slash_is_removed() -> None:
    assert encode_cwd("//srv/share") == "---srv-share--"


def test_session_directory_has_a_precedence() -> None:
    place = here(**{SESSION_DIR_VARIABLE: "/from/env"})
    assert place.session_dir(option="/from/option", setting="/from/setting").path == "/from/option"
    assert place.session_dir(setting="/from/setting").path == "/from/env"
    assert here().session_dir(setting="/from/setting").path == "/from/setting"
    assert here().session_dir() == SessionDir(f"{ROOT}/--home-dev-project--", by_cwd=False)
    assert here(**{SESSION_DIR_VARIABLE: ""}).session_dir(option="", setting="").by_cwd is False


def test_explicit_directory_is_used_as_it_is_for_all_projects() -> None:
    assert here().session_dir(option=".pi/sessions") == SessionDir("/home/dev/project/.pi/sessions", by_cwd=True)
    assert here().session_dir(setting="~/s", cwd="/elsewhere") == SessionDir("/home/dev/s", by_cwd=True)


def test_explicit_directory_that_is_the_default_one_is_not_filtered() -> None:
    assert here().session_dir(option=f"{ROOT}/x/../--home-dev-project--/").by_cwd is False


def test_file_name_has_time_and_id() -> None:
    assert session_file_name("2026-02-03T10:30:00.000Z", "019c") == "2026-02-03T10-30-00-000Z_019c.jsonl"


@pytest.mark.parametrize(("text", "accepted"), [
    ("a", True), ("019c230d-4c40-7101-9e35-8286d25018a4", True), ("My.session_1", True), ("", False), ("-a", False),
    ("a-", False), ("a b", False), ("a/b", False), ("é", False), ("a\n", False), (".", False),
])
def test_new_session_ids_are_checked(text: str, accepted: bool) -> None:
    assert is_session_id(text) is accepted


@pytest.mark.parametrize(("settings", "value"), [
    ('{"sessionDir": "~/s", "theme": "dark"}', "~/s"), ('{"sessionDir": ""}', None), ('{"sessionDir": 5}', None),
    ("{}", None), ("[]", None), ("{broken", None), ("", None), ("[" * 100_000, None),
])
def test_setting_is_read_from_the_agent_directory(tmp_path: Path, settings: str, value: str | None) -> None:
    (tmp_path / "settings.json").write_text(settings, encoding="utf-8")
    assert read_session_dir_setting(tmp_path) == value


def test_missing_settings_are_no_setting(tmp_path: Path) -> None:
    assert read_session_dir_setting(tmp_path / "nowhere") is None
