"""Rules over Helm values of the gpu-operator chart, judged by a release of it."""
