"""Hermes commands that run, print and end: one-shot questions and `hermes plugins ...`."""

from __future__ import annotations

import subprocess

from .home import Home


def run_hermes(home: Home, *arguments: str, seconds: float = 120.0) -> subprocess.CompletedProcess[str]:
    """Run `hermes` without a terminal or input; return its output and exit code.

    Raises subprocess.TimeoutExpired.
    """
    return subprocess.run(
        [home.host.hermes, *arguments],
        env=home.env(),
        cwd=home.work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        check=False,
    )


def ask(home: Home, script: str, text: str = "please", *, how: tuple[str, ...] = ("-z",)) -> subprocess.CompletedProcess[str]:
    """Ask one question that makes the model play a script.

    ``how``: ``("-z",)``, ``("chat", "-q")`` or ``("chat", "-Q", "-q")``, with more options before
    the last word.
    """
    return run_hermes(home, *how, f"{text} #S:{script}")
