#!/usr/bin/env bash
# Times whole commands on a Redis of its own, each beside what the server
# could do: redis-cli, or a plain pipelined loop over the same keys. Prints
# the ratio of the two; above 1 the command takes longer.
#
# ROWS (200000) and CHUNKS (65536) set the size of the stores. It needs
# redis-server, redis-cli, hyperfine and jq.
set -euo pipefail
cd "$(dirname "$0")/.."
rows=${ROWS:-200000} chunks=${CHUNKS:-65536}

for tool in redis-server redis-cli hyperfine jq; do
  command -v $tool >/dev/null || { echo "$tool is not installed" >&2; exit 1; }
done
work=$(mktemp -d)
server=
cleanup() {
  if [ -n "$server" ]; then
    kill "$server"
    wait "$server" || true
  fi
  rm -rf "$work"
}
trap cleanup EXIT

go build -o "$work/keyspacectl" .
redis-server --port 0 --unixsocket "$work/s" --save '' --appendonly no --dir "$work" >"$work/log" &
server=$!
export PATH="$work:$PATH" KEYSPACECTL_URL="unix://$work/s" KEYSPACECTL_PREFIX=app KEYSPACECTL_CONFIG=/dev/null
redis=(redis-cli -s "$work/s")
until [ "$("${redis[@]}" ping 2>/dev/null)" = PONG ]; do
  kill -0 "$server"
done

# resp writes each line, split at blanks, as a command of the protocol.
resp() {
  awk '{ printf "*%d\r\n", NF; for (i = 1; i <= NF; i++) printf "$%d\r\n%s\r\n", length($i), $i }'
}

echo "laying out $rows rows, $chunks chunks and a blob of 64 MiB" >&2
value=$(printf 'v%.0s' {1..200})
for ((first = 0; first < rows; first += 2000)); do
  seq "$first" $((first + 2000 < rows ? first + 1999 : rows - 1)) |
    jq -nc --arg value "$value" '{mutations: [inputs | {kind: "put", key: "row/\(.)", value: $value}]}' |
    keyspacectl txn -q >/dev/null
done
seq 0 $((chunks - 1)) |
  awk -v b="$value" '{ print "HSET {app|_default|full}c:" $1 " t 00000000-0000-4000-8000-000000000000 b " b
                       print "ZADD {app|_default|full}idx " $1 " " $1 }' | resp | "${redis[@]}" --pipe >/dev/null
head -c $((64 << 20)) /dev/urandom >"$work/payload"
keyspacectl blob put large --file "$work/payload" --retention 1d -q >/dev/null
"${redis[@]}" -x set plain <"$work/payload" >/dev/null
"${redis[@]}" set small "$value" >/dev/null

# The plain loops: one look-up a row, and one a chunk.
"${redis[@]}" hvals 'app:{zlink-location-v3}:opaque:map' | sed 's/.*/ZREVRANGE & 0 0/' | resp >"$work/rows"
seq 0 $((chunks - 1)) | sed 's/.*/HMGET {app|_default|full}c:& t b/' | resp >"$work/chunks"

results=()
# compare NAME OURS REFERENCE [PREPARE]
compare() {
  hyperfine --style none --warmup 1 --min-runs 5 --export-json "$work/times" ${4:+--prepare "$4"} "$2" "$3" >&2
  results+=("$(jq -r --arg name "$1" '.results | map(.median * 1000) |
    "\($name)\t\(.[0] * 10 | round / 10)\t\(.[1] * 10 | round / 10)\t\(.[0] / .[1] * 100 | round / 100)"' "$work/times")")
}

cli="redis-cli -s $work/s"
compare 'read one row / GET' 'keyspacectl read row/1' "$cli get small"
compare 'scan -o ndjson / pipelined loop' 'keyspacectl scan -o ndjson >/dev/null' "$cli --pipe <$work/rows"
compare 'scan of 10 rows / GET' 'keyspacectl scan row/1000' "$cli get small"
compare 'warm list / pipelined loop' 'keyspacectl warm list full -o ndjson >/dev/null' "$cli --pipe <$work/chunks"
compare 'warm list --payload / pipelined loop' 'keyspacectl warm list full --payload -o ndjson >/dev/null' "$cli --pipe <$work/chunks"
compare 'blob put / SET' "keyspacectl blob put new --file $work/payload --retention 1h" "$cli -x set plain <$work/payload" \
  "$cli del app:{zlink-relocation-v1}:blob:new"
compare 'blob read / GET' 'keyspacectl blob read large >/dev/null' "$cli get plain >/dev/null"
compare '--help / redis-cli --version' 'keyspacectl --help' 'redis-cli --version'

printf '\n%s\n' "$(printf '%s\n' $'work\tms\treference ms\tratio' "${results[@]}" | column -t -s $'\t')"
