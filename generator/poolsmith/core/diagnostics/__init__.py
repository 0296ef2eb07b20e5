"""Diagnostics: the lowest floor. Every other floor may speak it."""

from poolsmith.core.diagnostics.diagnostic import Diagnostic, diagnose, point_in, sorted_unique, whole_file
from poolsmith.core.diagnostics.errors import NoInputError, PoolsmithError, UsageError, WriteError
from poolsmith.core.diagnostics.rule_info import RuleInfo
from poolsmith.core.diagnostics.severity import Severity
from poolsmith.core.diagnostics.span import Location, Position, Span

__all__ = [
    "Diagnostic",
    "Location",
    "NoInputError",
    "PoolsmithError",
    "Position",
    "RuleInfo",
    "Severity",
    "Span",
    "UsageError",
    "WriteError",
    "diagnose",
    "point_in",
    "sorted_unique",
    "whole_file",
]
