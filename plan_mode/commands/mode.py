"""/mode: which mode is this session in, and into which shall it go?"""

from __future__ import annotations

from typing import Final

from .. import entry
from ..controller import Desk, Here
from ..errors import Refusal
from ..modes.builtin import BUILTIN, PLAN
from .answer import answering, split_verb
from .planmode import PlanModeCommand, leave

USAGE: Final = "/mode shows the mode, /mode <slug> switches, /mode off leaves."


class ModeCommand:
    """The handler of ``/mode``."""

    def __init__(self, desk: Desk, planmode: PlanModeCommand) -> None:
        self._desk, self._planmode = desk, planmode
        self.handle = answering(self._handle)

    def _handle(self, raw_args: str) -> str:
        here = self._desk.here("mode", raw_args)
        slug, rest = split_verb(raw_args)
        if not slug:
            return self._show(here)
        if slug == "off":
            return leave(self._desk, here)
        if slug == PLAN.slug:
            return self._planmode.turn_on(here, rest)
        if slug not in BUILTIN:
            raise Refusal("unknown-mode", f"{slug[:40]!r} isn't a mode.",
                          f"Modes: {', '.join(sorted(BUILTIN))}. {USAGE}")
        entry.switch(self._desk, here, slug)
        mode = BUILTIN[slug]
        return f"{mode.name} mode is on. {mode.description}\nNext: go on; /mode off leaves, /planmode on plans first."

    def _show(self, here: Here) -> str:
        self._desk.renew_default()
        standing = self._desk.standing(here.place)
        now = "none" if standing.mode is None else standing.mode.slug
        lines = [f"Mode: {now}"]
        if standing.fallback is not None:
            lines.append(f"Only reading is possible, because {standing.fallback.reason}.")
        lines += [f"  {'*' if slug == now else ' '} {slug}  {mode.description}" for slug, mode in sorted(BUILTIN.items())]
        if here.refusal is not None:
            lines.append(f"Note: the mode can't be changed here. {here.refusal.reason} {here.refusal.hint}")
        return "\n".join([*lines, f"Next: {USAGE}"])
