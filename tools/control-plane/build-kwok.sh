#!/usr/bin/env bash
# Builds kwok (it plays the kubelet of simulated nodes) from its Go module into the user's cache, once. Prints the folder with
# the program and, beside it, stages.yaml: what its kubelets do, as data, which the module brings but the program does not.
set -euo pipefail
cd "$(dirname "$0")"
version=v0.8.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/polder/kwok
# The list of stages below is part of what is built.
bin=$cache/$version-$(sha256sum < build-kwok.sh | cut -c1-12)
stages=(
  node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease
  pod/fast/pod-ready pod/fast/pod-complete pod/fast/pod-delete
  volume/fast/pv-bind volume/fast/pv-delete volume/fast/pvc-provision volume/fast/pvc-delete
)
if [ ! -s "$bin/stages.yaml" ]; then
  command -v go > /dev/null || {
    echo "kwok is built with Go, and there is no 'go' on the PATH. Install Go 1.26 or newer, then run this again." >&2
    exit 1
  }
  mkdir -p "$bin"
  exec 9> "$cache/lock"
  flock 9
  if [ ! -s "$bin/stages.yaml" ]; then
    echo "Building kwok $version from its Go module (once; about two minutes) ..." >&2
    # Away from any go.mod, which would have a say in the versions.
    cd /
    CGO_ENABLED=0 GOBIN=$bin go install -trimpath -ldflags "-s -w -X sigs.k8s.io/kwok/pkg/consts.Version=${version#v}" \
      "sigs.k8s.io/kwok/cmd/kwok@$version" >&2
    module=$(go mod download -json "sigs.k8s.io/kwok@$version" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
    for stage in "${stages[@]}"; do
      cat "$module/kustomize/stage/$stage.yaml"
      printf '\n---\n'
    done > "$bin/stages.yaml.part"
    mv "$bin/stages.yaml.part" "$bin/stages.yaml"
  fi
fi
echo "$bin"
