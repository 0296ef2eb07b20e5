helm install gpu-operator nvidia/gpu-operator --repo https://helm.ngc.nvidia.com/nvidia --version v25.3.4 --skip-crds
