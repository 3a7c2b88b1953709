"""May this call run in that mode? Judged as a session of the mode would be; nothing is run, and nothing is written."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import replace
from functools import partial
from typing import Any, Final

from .. import plans
from ..controller import Desk
from ..errors import Refusal
from ..facts import completed
from ..host import registry, workspace
from ..modes.builtin import PLAN
from ..modes.project import project_root
from ..standing import Standing
from ..state.record import blank
from .answer import Answer, folder, unread_config

_ANY_TOOL: Final = "read_file"
"""One that every registry holds whose tools were loaded."""

EXIT: Final = {"allow": 0, "deny": 1, "ask": 3}


def check(desk: Desk, arguments: Namespace) -> Answer:
    cwd = folder(arguments.cwd or arguments.project)
    project = folder(arguments.project) if arguments.project else project_root(cwd)
    mode = desk.library.named(arguments.mode, project).mode
    remote = partial(workspace.works_remotely, desk.backend)
    plan_root = plans.plan_directory(cwd) if mode.slug == PLAN.slug and not remote() else ""
    record = replace(blank(), mode=mode.slug, project=project, plan_root=plan_root)
    given = completed(mode, arguments.tool, _object(arguments.arguments), lambda: cwd, remote)
    verdict, _ = desk.judge.verdict(Standing(record, mode), arguments.tool, given)
    if verdict.rule == "unknown-tool" and registry.toolset_of(_ANY_TOOL) is None:
        verdict = replace(verdict, reason=f"{verdict.reason}; MCP servers and plugins aren't connected here")
    if not arguments.json:
        return Answer(verdict.told(arguments.tool, mode.slug), EXIT[verdict.effect], unread_config())
    return Answer(json.dumps({"effect": verdict.effect, "mode": mode.slug, "tool": arguments.tool, "rule": verdict.rule,
                              "reason": verdict.reason}), EXIT[verdict.effect], unread_config())


def _object(untrusted_json: str) -> dict[str, Any]:
    hint = 'Write them as \'{"path": "docs/a.md"}\'.'
    try:
        given = json.loads(untrusted_json)
    except (ValueError, RecursionError) as exc:
        raise Refusal("no-json", f"The arguments of the call aren't JSON: {exc}.", hint) from exc
    if not isinstance(given, dict):
        raise Refusal("no-json", "The arguments of the call aren't a JSON object.", hint)
    return given
