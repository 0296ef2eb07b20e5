"""Diagnostics: the lowest floor. Every other floor may speak it."""

from poolsmith.diagnostics.diagnostic import Diagnostic, diagnose, point_in, sorted_unique, whole_file
from poolsmith.diagnostics.errors import NoInputError, PoolsmithError, UsageError, WriteError
from poolsmith.diagnostics.rule_info import RuleInfo
from poolsmith.diagnostics.severity import Severity
from poolsmith.diagnostics.span import Location, Position, Span

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
