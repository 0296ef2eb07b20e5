#!/bin/sh
helm repo add nvidia https://helm.ngc.nvidia.com/nvidia
helm upgrade gpu-operator nvidia/gpu-operator -n gpu-operator --version v24.6.0 --set operator.upgradeCRD=true --disable-openapi-validation --no-hooks -f values.yaml
