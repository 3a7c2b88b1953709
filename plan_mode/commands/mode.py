"""/mode: which mode is this session in, and into which shall it go?"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, Final

from .. import entry, sharing
from ..controller import Desk
from ..errors import Refusal
from ..facts import completed
from ..host import capabilities, workspace
from ..models import MOST_CHARACTERS, is_name
from ..modes.builtin import PLAN
from ..modes.model import ModelChoice
from ..modes.registry import Offered
from ..modes.sources import Scope
from ..text import one_line
from ..whereabouts import Here
from . import render
from .answer import answering, split_verb
from .planmode import PlanModeCommand, leave

USAGE: Final = """\
/mode                        the mode, where it comes from, and all there are
/mode <slug>                 switch; /mode use <slug> where the slug is a word of this list
/mode off                    leave modes
/mode info <slug>            what a mode says and grants
/mode check <tool> [json]    may that call run now? nothing is run
/mode model <slug> <model> [provider]   let a mode work with that model; clear instead of the model takes it back
/mode trust <slug>           vouch for what this project says of a mode
/mode export <slug> [file]   a mode and its rules as the text of one file
/mode import <file> [global|project] [--force]   the modes of such a file; --force replaces what is there
/mode reload                 read the mode files again, and show what is wrong with them"""


_PROVIDER: Final = ("--provider", "—provider")
"""As /model has it; the second is what phones make of it."""

_FORCE: Final = ("--force", "—force")


class ModeCommand:
    """The handler of ``/mode``."""

    def __init__(self, desk: Desk, planmode: PlanModeCommand) -> None:
        self._desk, self._planmode = desk, planmode
        self.handle = answering(desk, "mode", self._handle)
        self._verbs: Final[dict[str, Callable[[Here, str], str]]] = {
            "": self._show, "off": lambda here, rest: leave(desk, here), "info": self._info, "check": self._check,
            "trust": self._trust, "model": self._model, "export": self._export, "import": self._import, "use": self._use,
            "reload": self._reload, "help": lambda here, rest: USAGE,
        }

    def _handle(self, here: Here, raw_args: str) -> str:
        verb, rest = split_verb(raw_args)
        act = self._verbs.get(verb)
        if act is not None:
            return act(here, rest)
        return self._use(here, raw_args)

    def _use(self, here: Here, named: str) -> str:
        slug, task = split_verb(named)
        if slug == PLAN.slug:
            return self._planmode.turn_on(here, task)
        known = entry.switch(self._desk, here, named.strip()[:len(slug)]).known
        desk = self._desk
        theirs = [rule.name for rule in desk.library.rules(known.mode.slug, self._project(here)).texts if rule.scope == "project"]
        return render.switched(known, render.model(desk.models.of(known.mode), desk.settings()), theirs)

    def _project(self, here: Here) -> str:
        """The project of the session, as it was fixed at its switch, else where the person is now."""
        record = self._desk.judge.standing(here.place).record
        return record.project if record is not None and record.project else entry.project_of(here)

    def _show(self, here: Here, rest: str) -> str:
        desk = self._desk
        desk.judge.renew_default()
        standing, project = desk.judge.standing(here.place), self._project(here)
        drift = desk.library.drift(standing.record) if standing.record and standing.record.mode else "same"
        model = desk.models.of(standing.mode) if standing.mode is not None and standing.fallback is None else None
        own = desk.memory.models.get(here.place.conversation)
        refused = own is not None and own.refused and standing.mode is not None and own.slug == standing.mode.slug
        return render.modes(standing, desk.library.listing(project), project, drift, here.refusal,
                            render.model(model, desk.settings(), refused=refused), capabilities.personality())

    def _info(self, here: Here, slug: str) -> str:
        project = self._project(here)
        library = self._desk.library
        known = library.named(slug, project)
        slug = known.mode.slug
        model = render.model(self._desk.models.of(known.mode), self._desk.settings())
        text = render.mode_info(known, library.rules(slug, project), model)
        offered = library.offered(slug, project)
        return text if offered is None else f"{text}\n\n{self._shown(project, offered)}"

    def _check(self, here: Here, rest: str) -> str:
        tool, _, untrusted_json = rest.partition(" ")
        if not tool:
            raise Refusal("no-tool", "Name a tool.", "As in /mode check write_file {\"path\": \"/tmp/x\"}")
        try:
            arguments: Any = json.loads(untrusted_json) if untrusted_json.strip() else {}
        except (ValueError, RecursionError) as exc:
            raise Refusal("no-json", f"The arguments aren't JSON: {exc}.", "Write them as {\"path\": \"/tmp/x\"}.") from exc
        standing = self._desk.judge.standing(here.place)
        if standing.mode is None:
            return f"{one_line(tool, 80)} may run: no mode is active in this session."
        if type(arguments) is dict:  # as they are completed before the call itself is judged
            arguments = completed(standing.mode, tool, arguments, lambda: entry.folder_of(here),
                                  lambda: workspace.works_remotely(self._desk.backend))
        verdict, _ = self._desk.judge.verdict(standing, tool, arguments)
        return render.checked(tool, standing, verdict)

    def _trust(self, here: Here, slug: str) -> str:
        """Trust what was shown: what wasn't yet, or says something else by now, is shown instead."""
        entry.refuse_nowhere(here)
        library, project = self._desk.library, self._project(here)
        slug = library.named(slug, project).mode.slug
        offered = library.offered(slug, project)
        if offered is None:
            raise Refusal("nothing-to-trust", f"Nothing of this project waits for your trust under the name {slug[:40]!r}.",
                          "See /mode for what there is.")
        if self._desk.memory.shown.get((project, slug)) != offered.digest:
            return self._shown(project, offered)
        try:
            library.vouch(offered)
        except OSError as exc:
            raise Refusal("not-stored", f"It can't be remembered ({exc.strerror or exc}).") from exc
        return render.trusted(offered.known)

    def _shown(self, project: str, offered: Offered) -> str:
        memory = self._desk.memory
        memory.keep(memory.shown, (project, offered.known.mode.slug), offered.digest)
        return render.offered(offered)

    def _model(self, here: Here, rest: str) -> str:
        entry.refuse_nowhere(here)
        slug, *words = rest.split() or [""]
        words = [word for word in words if word not in _PROVIDER]
        desk, mode = self._desk, self._desk.library.named(slug, self._project(here)).mode
        if not words or len(words) > 2 or not all(map(is_name, words)):
            raise Refusal("no-model", f"Name a model, of at most {MOST_CHARACTERS} characters, and its provider if it counts "
                                      "only there.", f"As in /mode model {mode.slug} <model>, or /mode model {mode.slug} clear.")
        desk.models.choose(mode.slug, None if words == ["clear"] else ModelChoice(*words))
        for conversation, own in list(desk.memory.models.items()):
            if own.slug == mode.slug:  # this is the latest that anybody chose for it
                desk.memory.models.pop(conversation, None)
        return render.model_chosen(mode.slug, desk.models.of(mode), desk.settings())

    def _export(self, here: Here, rest: str) -> str:
        slug, _, named = rest.partition(" ")
        found = sharing.export(self._desk, slug, self._project(here))
        if not named.strip():
            return render.exported(found)
        entry.refuse_nowhere(here)
        path = _path(here, named)
        sharing.write_new(path, found.text)
        return render.exported_to(found, path)

    def _import(self, here: Here, rest: str) -> str:
        entry.refuse_nowhere(here)
        named, scope, force = _import_options(rest)
        return sharing.bring_in(_path(here, named), scope, self._project(here), force=force)

    def _reload(self, here: Here, rest: str) -> str:
        return render.reloaded(self._desk.library.listing(self._project(here)))


def _path(here: Here, named: str) -> str:
    """The file that a person names; nothing splits its name, so that it may hold blanks."""
    named = named.strip().strip("'\"")
    if not named:
        raise Refusal("no-file", "Name a file.", "As in /mode import modes.yaml")
    path = os.path.join(entry.folder_of(here), os.path.expanduser(named))
    if not os.path.isabs(path):
        raise Refusal("no-cwd", "The session's working folder isn't known, so it can't be told which file that is.",
                      "Name it by its whole path.")
    return path


def _import_options(rest: str) -> tuple[str, Scope, bool]:
    """The file, where its modes go, and whether they may replace others: ``<file> [global|project] [--force]``."""
    named, scope, force = rest.strip(), sharing.SCOPES["global"], False
    while True:
        before, _, last = named.rpartition(" ")
        word = last.lower()
        if not before or word not in (*sharing.SCOPES, *_FORCE):
            return named, scope, force
        scope, force = sharing.SCOPES.get(word, scope), force or word in _FORCE
        named = before.rstrip()
