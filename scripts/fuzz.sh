#!/bin/sh
# Runs every fuzz target of the tree for FUZZTIME each (5s unless set).
set -eu

grep -rEo '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' . | sort | sed 's/:func / /' |
  while read -r file target; do
    echo "fuzzing $target in $(dirname "$file")"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-5s}" "$(dirname "$file")" </dev/null
  done
