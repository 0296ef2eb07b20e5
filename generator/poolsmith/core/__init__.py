"""Bytes, places, findings, and the facts that come with poolsmith."""
