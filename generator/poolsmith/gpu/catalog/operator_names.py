"""Names by which the GPU Operator is known in a cluster. They are one word, and different facts.

Source: NVIDIA/gpu-operator@v26.7.0:deployments/gpu-operator; NVIDIA/cloud-native-docs@gpu-operator-v26.7-1:
gpu-operator/getting-started.rst.
"""

from __future__ import annotations

from typing import Final

OPERATOR_CHART: Final = "gpu-operator"
"""The chart's own name, below which NVIDIA publishes it."""
OPERATOR_NAMESPACE: Final = "gpu-operator"
"""The namespace that it is installed into where nobody says another."""
OPERATOR_RELEASE: Final = "gpu-operator"
"""The name of its Helm release where nobody says another."""
OPERATOR_NAME: Final = "gpu-operator"
"""The chart's name for the operator's Deployment, service account and roles, whatever the release is called."""
