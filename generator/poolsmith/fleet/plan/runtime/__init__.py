"""Container runtimes, the toolkit, and how devices get into containers."""
