"""What the demo expects plan-mode to say: the one place to change when its wording does."""

from __future__ import annotations

#: Rules a denial names.
TOOL_NOT_GRANTED = "not-granted"
WRITE_OUTSIDE_PLANS = "outside-plans"

#: The sentence the model must get after an approval; ``{plan}`` is the plan's absolute path.
APPROVED = "The user approved the plan at {plan}. Implement it now."

#: What a command's answer must hold, in any case.
IS_ON = "plan mode is on"
STAYS_ON = "plan mode stays on"
IS_OFF = "plan mode is off"
