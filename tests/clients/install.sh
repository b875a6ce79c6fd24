#!/bin/sh
# install.sh FOLDER: the agent programs of tests/clients, from npm, at the versions of package.json beside this file.
# Then: AGENT_WIKI_CLIENTS=FOLDER/node_modules/.bin pytest -m clients tests/clients
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cp "$here/package.json" "$1/"
cd "$1"
npm install --no-audit --no-fund --no-package-lock
echo "AGENT_WIKI_CLIENTS=$PWD/node_modules/.bin"
