"""The composition root: builds the objects and registers them on the host. No rules live here."""

from __future__ import annotations

import functools

from .cli import HELP, Cli
from .commands.mode import ModeCommand
from .commands.planmode import PlanModeCommand
from .controller import Desk
from .hooks.approvals import Approvals
from .hooks.delegation import Delegation
from .hooks.dispatch import Dispatch
from .hooks.lifecycle import Lifecycle
from .hooks.mode_model import ModeModel
from .hooks.offered_tools import OfferedTools
from .hooks.overheard import Overheard
from .hooks.relative_paths import RelativePaths
from .hooks.requests import one_after_another
from .hooks.tool_gate import ToolGate
from .hooks.turn_context import TurnContext
from .host.context import PluginContext
from .policy.catalogue import OWN
from .questions import Questions
from .tools.submit_plan import SubmitPlan
from .tools.switch_mode import SwitchMode


def register(ctx: PluginContext) -> None:
    """Register everything that plugin.yaml declares. Asks nothing of the host but the registrations themselves."""
    desk = Desk(ctx)
    wrap = functools.partial(ctx.register_middleware, "tool_execution")
    overheard = Overheard(desk)
    questions = Questions()
    tools = SwitchMode(desk, questions), SubmitPlan(desk, questions)
    gate = ToolGate(desk, wrap, Delegation(desk, questions), {tool.name: tool.directive for tool in tools})
    turn, lifecycle, dispatch = TurnContext(desk, overheard, questions), Lifecycle(desk), Dispatch(desk)
    approvals = Approvals(questions)
    model = ModeModel(desk)
    planmode = PlanModeCommand(desk)
    operator = Cli(desk)
    mode = ModeCommand(desk, planmode)

    ctx.register_hook("pre_tool_call", gate.pre_tool_call)
    wrap(gate.tool_execution)
    ctx.register_hook("pre_llm_call", turn.pre_llm_call)
    ctx.register_middleware("tool_request", RelativePaths(desk).tool_request)
    ctx.register_middleware("llm_request", one_after_another(
        overheard.llm_request, OfferedTools(desk).llm_request, model.llm_request))
    ctx.register_hook("transform_llm_output", overheard.transform_llm_output)
    ctx.register_hook("pre_gateway_dispatch", dispatch.pre_gateway_dispatch)
    ctx.register_hook("api_request_error", model.api_request_error)
    ctx.register_hook("subagent_start", lifecycle.subagent_start)
    ctx.register_hook("post_approval_response", approvals.post_approval_response)
    ctx.register_hook("on_session_end", approvals.on_session_end)
    ctx.register_hook("on_session_reset", lifecycle.on_session_reset)
    ctx.register_hook("on_session_finalize", lifecycle.on_session_finalize)
    for tool in tools:
        ctx.register_tool(tool.name, OWN, tool.schema, tool.handle, description=tool.schema["description"])
    ctx.register_cli_command("plan-mode", HELP, operator.add_arguments, operator.run)
    ctx.register_command("planmode", planmode.handle, description="Plan before acting, enforced",
                         args_hint="on [task] | status | show | approve | reject | off")
    ctx.register_command("mode", mode.handle, description="Show or switch the mode of this session", args_hint="[slug | off]")
