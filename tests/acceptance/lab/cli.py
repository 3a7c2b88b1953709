"""The classic CLI, `hermes chat --cli`, used as a person would: type, Enter, read the screen."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence

from .approvals import Approval
from .home import Home
from .scripted_model import ScriptedModel
from .terminal import Terminal

_COLUMNS = 200
_QUIET = 0.4
_CHOICES = ("once", "session", "deny")
_FIRST_CHOICE = re.compile(r"│\s+❯ 1\. ")
_QUEUE = "queue_heading"
"""In the panel of what waits for the end of a turn: it is taken from the screen after its command was carried out."""


class Cli:
    """One running CLI. ``arguments`` are added to its command line, e.g. ``("--yolo",)``."""

    def __init__(
        self,
        home: Home,
        model: ScriptedModel,
        arguments: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        seconds: float = 90.0,
    ) -> None:
        self._model = model
        self.terminal = Terminal(
            [home.host.hermes, "chat", "--cli", *arguments],
            env=env or home.env(),
            cwd=home.work,
            columns=_COLUMNS,
        )
        try:
            self._wait(self._idle, seconds, "prompt at the start")
        except BaseException:  # also an interrupt: nobody else knows of the process yet
            self.terminal.close()
            raise

    def cmd(self, text: str, seconds: float = 30.0) -> str:
        """Type a slash command; return what was printed in answer to it.

        Raises TimedOut if nothing is printed in that time.
        """
        before = len(_echoes(text, self.terminal.lines))
        self.submit(text)

        def answer() -> str:
            lines = self.terminal.lines
            new = len(_echoes(text, lines)) > before and self._idle() and not any(_QUEUE in line for line in lines)
            return _answer(text, lines) if new else ""

        return self.terminal.wait_until(answer, seconds, f"answer to {text!r}")

    def turn(self, script: str, text: str = "please", seconds: float = 90.0) -> None:
        """Send a message that makes the model play a script; return when the turn is over."""
        self.submit(f"{text} #S:{script}")
        self.wait_end(script, seconds)

    def wait_end(self, script: str, seconds: float = 90.0) -> None:
        """Return when the turn that plays that script is over."""
        self._wait(lambda: self._model.finished(script) and self._idle(), seconds, f"end of turn {script!r}")

    def approval(self, seconds: float = 60.0) -> Approval:
        """Wait for the panel of the next approval. Its ``answer`` moves to the choice and presses Enter."""
        panel = self.terminal.wait_until(lambda: _panel(self.terminal.lines), seconds, "approval panel")

        def answer(choice: str) -> None:
            for _ in range(_CHOICES.index(choice)):
                self.terminal.send("\x1b[B")
                time.sleep(0.2)
            self.terminal.send("\r")
            self._wait(lambda: not _panel(self.terminal.lines), 30, "end of the panel")

        return Approval(panel, _CHOICES, answer)

    def wait_over(self, begun: Callable[[], bool], seconds: float = 90.0) -> None:
        """Return when a turn without a script's end is over; ``begun`` tells that the model was asked."""
        self._wait(lambda: begun() and self._idle(), seconds, "end of the turn")

    def submit(self, text: str) -> None:
        """Type a line and press Enter, whatever the CLI makes of it."""
        for character in text:
            self.terminal.send(character)
            time.sleep(0.005)  # faster counts as a paste
        end = _flat(text)[-30:]
        self._wait(lambda: end in _editor(self.terminal.lines), 30, "echo of the typed text")
        # The completion menu comes late, and an Enter before it is taken for part of the typing.
        self._wait(lambda: self.terminal.quiet(_QUIET), 30, "end of completion")

        def taken() -> bool:
            return self.terminal.exit_code is not None or end not in _editor(self.terminal.lines)

        self.terminal.send("\r")
        self._wait(lambda: taken() or _has_new_line(self.terminal.lines), 30, "reaction to Enter")
        if not taken():
            # On a busy machine it was too fast all the same and made a new line: a second one sends.
            self._wait(lambda: self.terminal.quiet(_QUIET), 30, "end of typing")
            self.terminal.send("\r")
            self._wait(taken, 30, "reaction to a second Enter")

    def exit(self) -> int:
        """Type /exit; return the exit code."""
        self.submit("/exit")
        return self.terminal.wait_exit(30)

    def kill(self) -> int:
        """End the process as a crash would; return the exit code."""
        return self.terminal.kill()

    def close(self) -> None:
        self.terminal.close()

    def _wait(self, condition: Callable[[], bool], seconds: float, what: str) -> None:
        self.terminal.wait_until(condition, seconds, what)

    def _idle(self) -> bool:
        """Tell whether the CLI waits for input: while busy its prompt begins with another sign."""
        lines = self.terminal.lines
        frame = _frame(lines)
        return (
            frame is not None
            and lines[frame[0] + 1].startswith("❯")
            and "?2004" in self.terminal.modes
            and self.terminal.quiet(_QUIET)
        )


def _frame(lines: Sequence[str]) -> tuple[int, int] | None:
    """Return the numbers of the two rules around the lines the person types into."""
    rules = [number for number, line in enumerate(lines) if _is_rule(line)]
    return (rules[-2], rules[-1]) if len(rules) > 1 and rules[-1] > rules[-2] + 1 else None


def _panel(lines: Sequence[str]) -> str:
    """Return the words in the approval panel, "" without one."""
    chosen = next((number for number, line in enumerate(lines) if _FIRST_CHOICE.search(line)), None)
    if chosen is None:
        return ""
    top = max((number for number, line in enumerate(lines[:chosen]) if "╭" in line), default=0)
    return " ".join(" ".join(line.strip("│ ") for line in lines[top + 1 : chosen]).split())


def _editor(lines: Sequence[str]) -> str:
    """Return what is typed but not sent; a completion menu may cover the frame and follow the text."""
    prompts = [number for number, line in enumerate(lines) if "❯" in line]
    return _flat("".join(lines[prompts[-1] :])) if prompts else ""


def _has_new_line(lines: Sequence[str]) -> bool:
    """Tell whether an empty line was begun below the typed one."""
    frame = _frame(lines)
    return frame is not None and frame[1] > frame[0] + 2 and not lines[frame[1] - 1]


def _echoes(command: str, lines: Sequence[str]) -> list[int]:
    """Return the numbers of the lines in which the CLI repeats the command it runs."""
    start = re.compile(r"\W{1,3}" + re.escape(_flat(command)[: _COLUMNS // 2]))
    return [number for number, line in enumerate(lines) if start.match(_flat(line))]


def _answer(command: str, lines: Sequence[str]) -> str:
    """Return the lines between the command's last echo and the prompt's frame."""
    echoes, frame = _echoes(command, lines), _frame(lines)
    if not echoes or frame is None:
        return ""
    status_bar = frame[0] - 1
    return "\n".join(lines[echoes[-1] + 1 : status_bar]).strip("\n")


def _is_rule(line: str) -> bool:
    return len(line) >= _COLUMNS - 1 and set(line) == {"─"}


def _flat(text: str) -> str:
    """Return the text without white space, which a terminal may change."""
    return re.sub(r"\s+", "", text)
