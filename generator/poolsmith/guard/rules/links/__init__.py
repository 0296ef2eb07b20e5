"""Rules over everything that reaches one cluster: what something needs by a name, and what supplies it."""
