#!/usr/bin/env bash
# The demo, after `./dev build`: figure 1 of the paper on four pieces, first all in one process, then on four MPI ranks;
# then a skewed matrix from the command line, by rows and by non-zeros. Each command is shown before its output.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Four ranks also on fewer processors, where those that wait give way; and as root, where this is root.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
if [[ $(id -u) == 0 ]]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi

say() { if [[ -t 1 ]]; then printf '\n\033[1m# %s\033[0m\n' "$*"; else printf '\n# %s\n' "$*"; fi; }
show() {
  local word
  printf '$'
  for word in "$@"; do
    if [[ $word =~ ^[A-Za-z0-9_./:,=-]+$ ]]; then printf ' %s' "$word"; else printf ' "%s"' "$word"; fi
  done
  printf '\n'
  "$@"
}

say "Figure 1 of the paper, examples/figure1.cpp: four pieces in one process"
show build/bin/figure1 4

say "The same program on four ranks"
show mpirun -n 4 build/bin/figure1

say "A matrix whose first rows are fuller than others: cut by rows, one piece has most of the work"
show build/bin/spdistal "a(i) = B(i,j) * c(j)" -f B:ds -g B:rmat,14,8 -g c:random -m 4 \
  -s "divide(i,io,ii,M.x); distribute(io); communicate({a,B,c},io)" --check --report

say "The same statement, cut by non-zeros: two other texts say where B lives and how it runs"
show build/bin/spdistal "a(i) = B(i,j) * c(j)" -f B:ds -g B:rmat,14,8 -g c:random -m 4 -d "B(x,y) fuse(x,y,f) -> M(~f)" \
  -s "fuse(i,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,M.x); distribute(fo); communicate({a,B,c},fo)" --check --report
