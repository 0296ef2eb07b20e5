#!/bin/sh
here="$(dirname "$0")"
helm install --wait --generate-name -n gpu-operator --create-namespace nvidia/gpu-operator -f $here/gpu-operator-values.yaml
