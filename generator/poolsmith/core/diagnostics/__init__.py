"""Diagnostics: the lowest floor. Every other floor may speak it."""

from poolsmith.core.diagnostics.diagnostic import (
    Diagnostic,
    Location,
    NoInputError,
    PoolsmithError,
    Position,
    Span,
    UsageError,
    WriteError,
    diagnose,
    point_in,
    position_in,
    sorted_unique,
    whole_file,
)
from poolsmith.core.diagnostics.rule_info import RuleInfo, Severity

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
    "position_in",
    "sorted_unique",
    "whole_file",
]
