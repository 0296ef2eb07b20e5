"""What Kubernetes and delivery tools do with objects, offline. It knows nothing of GPUs."""
