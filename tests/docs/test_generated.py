"""What documents show of the program is what it does now: commands, options, exit codes, examples."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

import docs.generate
from docs.generate import (
    CLI_PAGE,
    NOTICED,
    ROOT,
    cli_page,
    command_text,
    commands,
    exit_codes,
    main,
    pages,
    with_outputs,
)
from pivcs import errors
from pivcs.cli import COMMANDS, cli


def examples() -> list[Path]:
    return [page for page in pages() if "```console\n" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", examples(), ids=lambda page: page.name)
def test_examples_show_what_the_commands_write(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert with_outputs(text) == text, "out of date: python -m docs.generate"


def test_readme_has_examples() -> None:
    assert ROOT / "README.md" in examples()


def test_outdated_output_is_replaced() -> None:
    text = "a\n```console\n$ echo one; echo two >&2\nthree\n$ pwd\n```\nb\n"
    assert with_outputs(text) == "a\n```console\n$ echo one; echo two >&2\none\ntwo\n$ pwd\n/tmp/pivcs-demo\n```\nb\n"


def test_time_at_which_an_example_ran_is_not_shown() -> None:
    text = "```console\n$ echo 'History:   2030-12-31 23:59  gone'; echo 2030-12-31 23:59\n```\n"
    assert with_outputs(text).splitlines()[2:4] == [f"History:   {NOTICED}  gone", "2030-12-31 23:59"]


def test_command_page_is_up_to_date() -> None:
    assert CLI_PAGE.read_text(encoding="utf-8") == cli_page(), "out of date: python -m docs.generate"


def test_every_command_and_option_is_on_the_command_page() -> None:
    sections = dict(re.findall(r"^## pivcs ([a-z-]+)\n(.*?)(?=^## |\Z)", cli_page(), re.MULTILINE | re.DOTALL))
    sources = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "pivcs" / "cli").glob("*.py")}
    modules = {name for name, source in sources.items() if re.search(r"^def command\(", source, re.MULTILINE)}
    assert {COMMANDS[name] for name in sections} == modules
    for name, command in commands().items():
        inner = command.commands if isinstance(command, click.Group) else {}
        assert set(re.findall(rf"^### pivcs {name} ([a-z-]+)$", sections[name], re.MULTILINE)) == set(inner)
        for option in [parameter for each in (command, *inner.values()) for parameter in each.params]:
            if isinstance(option, click.Option):
                assert all(f"`{spelling}`" in sections[name] for spelling in option.opts)


def test_commands_of_a_command_have_sections_below_it() -> None:
    group = click.Group("outer", help="Does things.")
    group.add_command(
        click.Command("inner", help="Does one.", params=[click.Option(["--fast"], is_flag=True, help="!")])
    )
    text = "\n".join(command_text(group, "outer", click.Context(cli, info_name="pivcs", **cli.context_settings)))
    assert [line for line in text.splitlines() if line] == [
        "## pivcs outer",
        "`pivcs outer [OPTIONS] COMMAND [ARGS]...`",
        "Does things.",
        "### pivcs outer inner",
        "`pivcs outer inner [OPTIONS]`",
        "Does one.",
        "| option | meaning |",
        "|---|---|",
        "| `--fast` | ! |",
    ]


def test_every_kind_of_error_has_an_exit_code_of_its_own() -> None:
    kinds = errors.PivcsError.__subclasses__()
    codes = dict(exit_codes())
    assert len({kind.exit_code for kind in kinds}) == len(kinds)
    assert all(kind.exit_code in codes for kind in kinds)
    page = cli_page()
    assert all(f"| {code} | {meaning} |" in page for code, meaning in codes.items())


def test_check_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "docs" / "cli.md"
    page.parent.mkdir()
    (tmp_path / "README.md").write_text("nothing to run\n")
    page.write_text("old\n")
    monkeypatch.setattr("docs.generate.ROOT", tmp_path)
    monkeypatch.setattr("docs.generate.CLI_PAGE", page)
    picture = tmp_path / "docs" / "picture.svg"
    monkeypatch.setattr("docs.generate.PICTURE", picture)
    picture.write_text(docs.generate.picture())
    assert main(["--check"]) == 1
    assert (page.read_text(), capsys.readouterr().out) == ("old\n", f"{Path('docs', 'cli.md')}\n")
    assert main([]) == 0
    assert main(["--check"]) == 0
    assert page.read_text() == cli_page()
