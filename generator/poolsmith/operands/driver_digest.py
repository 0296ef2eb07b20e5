"""The variable by which the operator tells that a driver's configuration has changed."""

DRIVER_DIGEST = "DRIVER_CONFIG_DIGEST"
"""A hash of structures of the operator's program, so that it is predicted without a value.

Source: NVIDIA/gpu-operator, internal/state/driver.go.
"""
