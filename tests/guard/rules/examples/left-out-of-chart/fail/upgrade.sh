#!/bin/sh
helm repo add nvidia https://helm.ngc.nvidia.com/nvidia
helm upgrade --install gpu-operator nvidia/gpu-operator -n gpu-operator --version v25.3.4 --no-hooks
