# Sourced by ./dev: makes sure that the Debian packages a subcommand needs are there.
# shellcheck shell=bash

# A package counts as present if dpkg says so, or if the command it is wanted for can be run (it may
# have come another way). Without dpkg only commands can be checked.
have_package() {
  local package=$1 command=
  case $package in
    clang-19) command=clang++-19 ;;
    ccache | clang-format-19 | clang-tidy-19 | cmake | python3 | pkg-config) command=$package ;;
    chromium | curl | doxygen | gdb | haproxy | lldb-19 | openssl | redis-server) command=$package ;;
    slowhttptest | socat | sslscan | valgrind | wrk) command=$package ;;
    apache2-bin) command=apache2 ;;
    testssl.sh) command=testssl ;;
    python3-pip) command=pip3 ;;
    netcat-openbsd) command=nc.openbsd ;;
    llvm-19) command=llvm-symbolizer-19 ;;
    ninja-build) command=ninja ;;
    g++) command=g++-12 ;;
  esac
  if [[ -n $command ]]; then
    command -v "$command" >/dev/null
  elif command -v dpkg-query >/dev/null; then
    [[ $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) == *' installed' ]]
  fi
}

need() {
  local package missing=()
  for package in "$@"; do
    have_package "$package" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  local root=()
  if ((EUID != 0)); then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      root=(sudo)
    else
      root=(false)
    fi
  fi
  if [[ ${root[*]-} == false ]] || ! command -v apt-get >/dev/null; then
    echo "missing packages; run:" >&2
    echo "  sudo apt-get update && sudo apt-get install -y ${missing[*]}" >&2
    exit 3
  fi
  echo "installing: ${missing[*]} (apt)"
  local wait_for_others=(-o DPkg::Lock::Timeout=300)
  "${root[@]}" apt-get -q "${wait_for_others[@]}" update </dev/null
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q "${wait_for_others[@]}" install -y --no-remove --no-install-recommends "${missing[@]}" </dev/null
}
