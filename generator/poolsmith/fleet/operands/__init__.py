"""Operands: what will run? What the chart installs and the operator creates, predicted."""
