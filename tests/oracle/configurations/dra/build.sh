#!/bin/sh
# dra/build.sh CHECKOUT PROGRAM: versions differ in how they call themselves, and the first one refuses no pair of gates.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$(pwd)/$2
cd "$1"
gates=pkg/featuregates
module=$(sed -n 's/^module //p' go.mod)
mkdir -p cmd/oracle
sed "s#sigs.k8s.io/dra-driver-nvidia-gpu#$module#" "$here/main.go" > cmd/oracle/main.go
cp "$here/oracle.go" $gates/
grep -q featureGateEmulationVersion $gates/featuregates.go ||
  sed -i 's/featureGateEmulationVersion/parseProjectVersion()/' $gates/oracle.go
grep -q 'func ValidateFeatureGates' $gates/featuregates.go ||
  printf '\nfunc ValidateFeatureGates() error { return nil }\n' >> $gates/oracle.go
go build -ldflags "-X $module/internal/info.version=$(git describe --tags)" -o "$program" ./cmd/oracle
