"""/mode: which mode is this session in, and into which shall it go?"""

from __future__ import annotations

import time
from typing import Final

from .. import transitions
from ..controller import Desk
from ..errors import Refusal
from ..modes.builtin import BUILTIN, PLAN
from ..state.record import Damaged, blank, new_id
from ..transitions import Switch
from .answer import answering, split_verb
from .guards import make_room, refuse_unresolved, refuse_where_unenforced
from .planmode import PlanModeCommand, leave

USAGE: Final = "/mode shows the mode, /mode <slug> switches, /mode off leaves."


class ModeCommand:
    """The handler of ``/mode``."""

    def __init__(self, desk: Desk, planmode: PlanModeCommand) -> None:
        self._desk, self._planmode = desk, planmode
        self.handle = answering(self._handle)

    def _handle(self, raw_args: str) -> str:
        slug, rest = split_verb(raw_args)
        if not slug:
            return self._show()
        if slug == "off":
            return leave(self._desk, self._desk.command_place())
        if slug == PLAN.slug:
            return self._planmode.handle(f"on {rest}")
        if slug not in BUILTIN:
            raise Refusal("unknown-mode", f"{slug[:40]!r} isn't a mode.",
                          f"Modes: {', '.join(sorted(BUILTIN))}. {USAGE}")
        return self._switch(slug)

    def _show(self) -> str:
        standing = self._desk.standing(self._desk.command_place())
        now = "none" if standing.mode is None else standing.mode.slug
        lines = [f"Mode: {now}"]
        if standing.fallback is not None:
            lines.append(f"Only reading is possible, because {standing.fallback.reason}.")
        lines += [f"  {'*' if slug == now else ' '} {slug}  {mode.description}" for slug, mode in sorted(BUILTIN.items())]
        return "\n".join([*lines, f"Next: {USAGE}"])

    def _switch(self, slug: str) -> str:
        desk = self._desk
        refuse_where_unenforced(desk)
        with desk.arriving(desk.command_place(), create=True) as (arrival, writer):
            found = desk.session(arrival)
            if isinstance(found, Damaged):
                raise Refusal("state-damaged", f"The mode can't be changed, because {found.reason}.", "Type /mode off first.")
            refuse_unresolved(found)
            record = found.record if found else blank()
            switched = transitions.apply(record, Switch(slug, time.time(), new_id()))
            if found is None:
                make_room(writer, desk.settings().keep_days)
            desk.commit(arrival, found, switched)
        mode = BUILTIN[slug]
        return f"{mode.name} mode is on. {mode.description}\nNext: go on; /mode off leaves, /planmode on plans first."
