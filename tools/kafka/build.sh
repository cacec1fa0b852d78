#!/usr/bin/env bash
# Brings Apache Kafka from Maven Central into the user's cache, once for each version of pom.xml. Prints the folder of the
# jars. About a minute.
set -euo pipefail
cd "$(dirname "$0")"
version=4.3.1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/polder/kafka
key=$version-$(sha256sum < pom.xml | cut -c1-12)
libs=$cache/$key
if [ ! -d "$libs" ]; then
  for program in mvn java; do
    command -v $program > /dev/null || {
      echo "The real Kafka comes from Maven and runs on Java, and there is no '$program' on the PATH. Install Maven and a JDK (17 or newer), then run this again." >&2
      exit 1
    }
  done
  mkdir -p "$cache"
  # Two downloads at once would only slow each other down; the second waits and finds the work done.
  exec 9> "$cache/lock"
  flock 9
  if [ ! -d "$libs" ]; then
    echo "Bringing Apache Kafka $version from Maven Central (once; about a minute) ..." >&2
    rm -rf "$libs.part"
    mvn -q -B -f pom.xml org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
      -DincludeScope=runtime -DoutputDirectory="$libs.part" >&2
    mv "$libs.part" "$libs"
  fi
fi
echo "$libs"
