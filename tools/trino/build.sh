#!/usr/bin/env bash
# Brings Trino from Maven Central into the user's cache, once for each version. Prints the folder of the server. One download
# of 820 MB, a few minutes.
set -euo pipefail
version=476 # the newest whose server is published there
plugins=(iceberg memory tpch)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/polder/trino
key=$version-$(IFS=-; echo "${plugins[*]}")
server=$cache/$key
if [ ! -d "$server" ]; then
  command -v mvn > /dev/null || {
    echo "The real Trino comes from Maven, and there is no 'mvn' on the PATH. Install Maven and a JDK 25, then run this again." >&2
    exit 1
  }
  mkdir -p "$cache"
  # Two downloads at once would only slow each other down; the second waits and finds the work done.
  exec 9> "$cache/lock"
  flock 9
  if [ ! -d "$server" ]; then
    echo "Bringing Trino $version from Maven Central (once; 820 MB, a few minutes) ..." >&2
    rm -rf "$server.part"
    mkdir "$server.part"
    mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
      -Dartifact=io.trino:trino-server:$version:tar.gz -DoutputDirectory="$server.part" >&2
    # Whole, although most of it goes again: jars that several plugins have are links to one that may be anywhere in it.
    tar -xzf "$server.part/trino-server-$version.tar.gz" -C "$server.part" --strip-components=1
    rm "$server.part/trino-server-$version.tar.gz"
    mv "$server.part/plugin" "$server.part/all"
    mkdir "$server.part/plugin"
    # Every plugin that is there is loaded: the start takes half as long with those that are used alone.
    for plugin in "${plugins[@]}"; do mv "$server.part/all/$plugin" "$server.part/plugin/"; done
    rm -rf "$server.part/all"
    mv "$server.part" "$server"
  fi
fi
echo "$server"
