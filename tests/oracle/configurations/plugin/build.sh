#!/bin/sh
# build.sh CHECKOUT PROGRAM: the device plugin of a checkout, whose start is replaced by oracle.go.
set -eu
plugin=$1/cmd/nvidia-device-plugin
cp "$(dirname "$0")/oracle.go" "$plugin/"
sed -i 's/return start(ctx, o)/return judge(ctx, o.flags)/; s/return start(ctx, c.Flags)/return judge(ctx, c.Flags)/' "$plugin/main.go"
unnamed=$(grep -oh 'spec.DisableResourceNamingInConfig(.*)' "$plugin/main.go")
logger=
case $unnamed in *logger*) logger='"github.com/NVIDIA/k8s-device-plugin/internal/logger"' ;; esac
cat > "$plugin/unnamed.go" <<G
package main

import (
	spec "github.com/NVIDIA/k8s-device-plugin/api/config/v1"
	$logger
)

func unnamed(config *spec.Config) { $unnamed }
G
program=$(realpath "$2")
cd "$1" && go build -mod=mod -o "$program" ./cmd/nvidia-device-plugin
