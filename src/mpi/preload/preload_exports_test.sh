#!/bin/sh
# preload_exports_test.sh LIBCAIRN LIST: it exports the listed MPI functions, Fortran entries and PMPI_ functions and what it
# interposes, nothing else, and needs nothing but libc.
set -eu
library=$1
list=$2
expected=$(mktemp)
exported=$(mktemp)
trap 'rm -f "$expected" "$exported"' EXIT
{
  sed -n 's/^ *CAIRN_MPI_FUNCTION(\(.*\)).*/\1/p' "$list"
  sed -n 's/^ *CAIRN_FORTRAN_ENTRY(\([^,]*\),.*/\1/p' "$list"
  sed -n 's/^ *CAIRN_PROFILING_ENTRY(\([^,]*\),.*/P\1/p' "$list"
  printf '%s\n' malloc calloc realloc reallocarray free posix_memalign aligned_alloc memalign valloc pvalloc \
    munmap mremap dlclose dlerror \
    setuid seteuid setreuid setresuid setgid setegid setregid setresgid \
    _exit _Exit quick_exit execve execv execvp execvpe fexecve execl execlp execle \
    cairn_mpi_place pthread_create pthread_join pthread_tryjoin_np pthread_timedjoin_np pthread_clockjoin_np pthread_detach
} | sort >"$expected"
nm -D --defined-only "$library" | awk '{print $3}' | sort >"$exported"
diff "$expected" "$exported"
needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-linux' | tr '\n' ' ')
test "$needed" = "libc.so.6 " || { echo "it needs $needed"; exit 1; }
size=$(nm -S -D "$library" | awk '$4 == "munmap" || $4 == "mremap" {print $2}')
for hex in $size; do  # Open MPI writes a jump of up to 16 bytes over the start of these
  test $((0x$hex)) -ge 16 || { echo "munmap or mremap is too short to be patched"; exit 1; }
done
