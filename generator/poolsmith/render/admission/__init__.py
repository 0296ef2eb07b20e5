"""The grants of privileges as an admission policy of Kubernetes. Floor: render."""
