"""The composition root: builds the objects and registers them on the host. No rules live here."""

from __future__ import annotations

import functools

from .commands.mode import ModeCommand
from .commands.planmode import PlanModeCommand
from .controller import Desk
from .hooks.lifecycle import Lifecycle
from .hooks.tool_gate import ToolGate
from .hooks.turn_context import TurnContext
from .host.context import PluginContext


def register(ctx: PluginContext) -> None:
    """Register everything that plugin.yaml declares. Asks nothing of the host but the registrations themselves."""
    desk = Desk(ctx)
    wrap = functools.partial(ctx.register_middleware, "tool_execution")
    gate, turn, lifecycle = ToolGate(desk, wrap), TurnContext(desk), Lifecycle(desk)
    planmode = PlanModeCommand(desk)
    mode = ModeCommand(desk, planmode)

    ctx.register_hook("pre_tool_call", gate.pre_tool_call)
    wrap(gate.tool_execution)
    ctx.register_hook("pre_llm_call", turn.pre_llm_call)
    ctx.register_hook("on_session_reset", lifecycle.on_session_reset)
    ctx.register_hook("on_session_finalize", lifecycle.on_session_finalize)
    ctx.register_command("planmode", planmode.handle, description="Plan before acting, enforced",
                         args_hint="on [task] | status | show | approve | reject | off")
    ctx.register_command("mode", mode.handle, description="Show or switch the mode of this session", args_hint="[slug | off]")
