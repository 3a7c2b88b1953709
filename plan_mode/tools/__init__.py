"""The tools by which the agent may ask for another mode, or for the approval of its plan. A person answers."""
