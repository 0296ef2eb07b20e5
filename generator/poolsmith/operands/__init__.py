"""Operands: from Helm values to the custom resources that the chart renders."""
