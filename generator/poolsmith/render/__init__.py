"""Render: a plan to the files of its cluster."""
