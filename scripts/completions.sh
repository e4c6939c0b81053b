#!/bin/sh
# Writes the completion scripts of all shells to the directory named.
set -eu

mkdir -p "$1"
for shell in bash zsh fish; do
  go run . completion "$shell" >"$1/keyspacectl.$shell"
done
