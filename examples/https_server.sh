#!/usr/bin/env bash
# Shows https_server to curl, with a certificate that is made for it.
set -euo pipefail
scratch=$(mktemp -d)
trap 'kill $server; wait $server || true; rm -rf -- "$scratch"' EXIT
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost -keyout "$scratch/key.pem" -out "$scratch/cert.pem" 2>/dev/null
port=$((20000 + RANDOM % 10000))
"$1" 127.0.0.1:$port "$scratch/cert.pem" "$scratch/key.pem" &
server=$!
ask=(curl --silent --retry 20 --retry-connrefused --retry-delay 0 --cacert "$scratch/cert.pem"
  "https://localhost:$port/hello/world")
echo "$ curl --cacert cert.pem https://localhost:$port/hello/world"
"${ask[@]}" --include
