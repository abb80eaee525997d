/* A program that cannot be recorded: static, with an MPI or a Fortran binding of its own inside, or using one that
   nobody knows. As a library: the MPI that nobody knows. */
#ifdef OWN_MPI
int MPI_Init(int *argc, char ***argv);
int MPI_Init(int *argc, char ***argv) {
  (void)argv;
  return argc != 0;
}
#endif
#ifdef OWN_FORTRAN
void mpi_init_(int *error);
void mpi_init_(int *error) { *error = 0; }
#endif
#ifdef USES_MPI
int MPI_Init(int *argc, char ***argv);
#endif

int main(int argc, char **argv) {
#if defined(USES_MPI)
  return MPI_Init(argc > 1 ? &argc : 0, &argv);
#else
  (void)argv;
  return argc > 1;
#endif
}
