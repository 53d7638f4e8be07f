# Sourced by ./dev: the parts of `./dev test --all`, and where their time goes.
# shellcheck shell=bash

# What ccache said of each compilation, for the share of hits of a part.
cache_log=$PWD/build/ccache.log

# Makes the compiler's results found again, also in a clone in another folder.
use_compiler_cache() {
  command -v ccache >/dev/null || return 0
  mkdir -p build
  export CMAKE_CXX_COMPILER_LAUNCHER=$PWD/tools/compile
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1 CCACHE_STATSLOG=$cache_log
  # Without this ccache does not store what was compiled with a precompiled header.
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
}

# The share of compilations since the log was emptied that the cache answered, as "93%".
cache_hits() {
  awk '/^(direct|preprocessed)_cache_hit$/ { hits++ } /^cache_miss$/ { misses++ }
    END { if (hits + misses) printf "%d%%", 100 * hits / (hits + misses); else print "-" }' \
    "$cache_log" 2>/dev/null || echo -
}

# Where a log tells what went wrong: GoogleTest, an assertion, a sanitizer, a compiler.
failure=': Failure$|^rouse: |(ERROR|WARNING): [A-Za-z]+Sanitizer|: (fatal )?error: '

# run_part NAME COMMAND...: one row of the summary of `test --all`. The command's own last
# summary line says how many tests passed; a failure outside of any test counts as one. The caller
# has the variables rows, passed, failed.
run_part() {
  local name=$1 log status=ok counts=() failures=() ok=0 bad=0 wall cpu built=0
  shift
  log=build/$name.log
  mkdir -p build
  rm -f build/built_after "$cache_log"
  printf '\n=== %s\n' "$name"
  part_start=$SECONDS
  local TIMEFORMAT='%0R %0U %0S'
  { time "$@" 2>&1 | tee "$log" || status=FAILED; } 2>build/part_time
  read -r wall cpu built < <(awk '{ print $1, $2 + $3, 0 }' build/part_time)
  [[ -f build/built_after ]] && built=$(<build/built_after)
  # ctest: "97% tests passed, 3 tests failed out of 100"; the install test: "6 passed, 0 failed"
  read -ra counts < <(sed -nE \
    -e 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+).*/\2 \1 ctest/p' \
    -e 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$log" | tail -n 1) || true
  if ((${#counts[@]})); then
    ok=${counts[0]} bad=${counts[1]}
    # ctest counts a skipped test as passed.
    [[ ${counts[2]-} == ctest ]] && ok=$((ok - bad - $(grep -c '\*\*\*Skipped' "$log" || true)))
  fi
  # ctest lists them at its end: "<tab>  12 - net.TcpStream.Reads (Failed)"; the others as they come.
  mapfile -t failures < <(sed -nE -e '/\((Skipped|Disabled)\)$/d' \
    -e 's/^\t *[0-9]+ - (.*\))$/\1/p' -e 's/^(FAILED  .*|.* FAILED after .*)/\1/p' "$log")
  if [[ $status == FAILED ]] && ((bad == 0)); then
    bad=1
  fi
  passed=$((passed + ok)) failed=$((failed + bad))
  rows+=("$(printf '%-8s %-7s%6d passed%5d failed%6d s: build%5d, run%5d; CPU%6d s; cache %s' \
    "$name" "$status" "$ok" "$bad" "$wall" "$built" $((wall - built)) "$cpu" "$(cache_hits)")")
  # The log is long, and whoever reads only its end should know what to run again, and why.
  rows+=("${failures[@]/#/  failed: }")
  if [[ $status == FAILED ]]; then
    mapfile -t -O "${#rows[@]}" rows < <(grep -hE -A6 "$failure" "$log" | head -n 30 | sed 's/^/    /')
  fi
}

# Called between a part's build and its tests.
note_built() { echo $((SECONDS - ${part_start:-$SECONDS})) >build/built_after; }
