"""`pivcs completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Write the completion script for a shell.

    \b
    bash:  eval "$(pivcs completion bash)"          in ~/.bashrc
    zsh:   eval "$(pivcs completion zsh)"           in ~/.zshrc
    fish:  pivcs completion fish > ~/.config/fish/completions/pivcs.fish
    """
    found = get_completion_class(shell)
    assert found is not None
    root = context.find_root()
    click.echo(found(root.command, {}, "pivcs", "_PIVCS_COMPLETE").source())
