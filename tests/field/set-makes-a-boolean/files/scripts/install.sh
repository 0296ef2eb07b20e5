#!/bin/sh
set -eu
helm repo add nvidia https://helm.ngc.nvidia.com/nvidia
helm install gpu-operator nvidia/gpu-operator --version v25.3.4 -n gpu-operator --create-namespace \
  --set driver.enabled=false \
  --set toolkit.env[0].name=CONTAINERD_RUNTIME_CLASS \
  --set toolkit.env[0].value=nvidia \
  --set toolkit.env[1].name=CONTAINERD_SET_AS_DEFAULT \
  --set toolkit.env[1].value=false
