helm repo add nvidia https://helm.ngc.nvidia.com/nvidia
kubectl apply --server-side -f crds/
helm install gpu-operator nvidia/gpu-operator -n gpu-operator --version v25.3.4 --skip-crds --no-hooks
