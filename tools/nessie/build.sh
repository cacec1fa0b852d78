#!/usr/bin/env bash
# Brings into the user's cache, once for each version: Nessie from Maven Central, an S3 server (versitygw) built from its Go
# module, and an independent Iceberg client (pyiceberg) in a Python environment of its own. Prints the folder they are in.
# About five minutes.
set -euo pipefail
nessie=0.108.8
versitygw=v1.8.0
pyiceberg=0.12.0
pyarrow=26.0.1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/polder/nessie
made=$cache/$nessie-$versitygw-$pyiceberg-$pyarrow
if [ ! -d "$made" ]; then
  for program in mvn go python3; do
    command -v $program > /dev/null || {
      echo "Nessie comes from Maven, its S3 server from Go, the client that checks them from Python, and there is no '$program' on the PATH. Install it, then run this again." >&2
      exit 1
    }
  done
  mkdir -p "$cache"
  # Two at once would only slow each other down; the second waits and finds the work done.
  exec 9> "$cache/lock"
  flock 9
  if [ ! -d "$made" ]; then
    echo "Bringing Nessie $nessie, versitygw $versitygw and pyiceberg $pyiceberg (once; about five minutes) ..." >&2
    rm -rf "$made.part"
    mkdir "$made.part"
    maven="mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
    artifact=org.projectnessie.nessie:nessie-quarkus:$nessie:jar:runner
    $maven:get -Dtransitive=false -Dartifact=$artifact >&2
    $maven:copy -Dartifact=$artifact -DoutputDirectory="$made.part" -Dmdep.stripVersion=true >&2
    GOBIN=$made.part go install github.com/versity/versitygw/cmd/versitygw@$versitygw >&2
    # The scripts in it know the path it was made at and are of no use once it has moved; its python is.
    python3 -m venv "$made.part/python" >&2
    "$made.part/python/bin/python" -m pip install -q --disable-pip-version-check \
      "pyiceberg[s3fs]==$pyiceberg" "pyarrow==$pyarrow" >&2
    mv "$made.part" "$made"
  fi
fi
echo "$made"
