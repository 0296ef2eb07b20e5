#!/bin/sh
set -e
helm upgrade --install gpu-operator nvidia/gpu-operator -n gpu-operator --version v26.3.3 --set driver.enabled=false
