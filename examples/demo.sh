#!/usr/bin/env bash
# The demo, after `./dev build`: figure 1 of the paper as a C++ program, then distributed SpMV by non-zeros from the
# command line. Each command is shown before its output; what is not built yet is named and passed over.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

show() {
  local word
  printf '\n$'
  for word in "$@"; do
    if [[ $word =~ ^[A-Za-z0-9_./:-]+$ ]]; then printf ' %s' "$word"; else printf ' "%s"' "$word"; fi
  done
  printf '\n'
  if [[ ! -x $1 ]]; then
    echo "(not built: $1 does not exist yet)"
    return
  fi
  "$@"
}

show build/bin/figure1

show build/bin/spdistal "a(i) = B(i,j) * c(j)" -f B:ds -m 4 -d "B(x,y) fuse(x,y,f) -> M(~f)" \
  -s "fuse(i,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,M.x); distribute(fo); communicate({a,B,c},fo)" --print statement
