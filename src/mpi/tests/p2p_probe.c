// Probe, Iprobe, matched probes, and cancelled receives.
#include "check.h"

int main(int argc, char **argv) {
  start(&argc, &argv);
  int out[4] = {rank, 1, 2, 3};
  int in[4];
  MPI_Status status;
  MPI_Message message;
  MPI_Request request;
  int count = 0;
  int flag = 0;

  MPI(MPI_Isend(out, 4, MPI_INT, right(), 1, MPI_COMM_WORLD, &request));
  MPI(MPI_Probe(left(), 1, MPI_COMM_WORLD, &status));
  MPI(MPI_Get_count(&status, MPI_INT, &count));
  CHECK(count == 4);
  MPI(MPI_Get_elements(&status, MPI_INT, &count));
  CHECK(count == 4);
  MPI(MPI_Recv(in, count, MPI_INT, left(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));

  MPI(MPI_Isend(out, 3, MPI_INT, right(), 2, MPI_COMM_WORLD, &request));
  while (!flag) MPI(MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, &status));
  CHECK(status.MPI_SOURCE == left());
  MPI(MPI_Recv(in, 3, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD, &status));
  MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));

  MPI(MPI_Isend(out, 2, MPI_INT, right(), 3, MPI_COMM_WORLD, &request));
  MPI(MPI_Mprobe(left(), MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status));
  CHECK(status.MPI_TAG == 3 && message != MPI_MESSAGE_NULL);
  MPI(MPI_Mrecv(in, 2, MPI_INT, &message, &status));
  CHECK(message == MPI_MESSAGE_NULL && in[0] == left());
  MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));

  MPI(MPI_Isend(out, 1, MPI_INT, right(), 4, MPI_COMM_WORLD, &request));
  for (flag = 0; !flag;) MPI(MPI_Improbe(left(), 4, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
  MPI_Request receive;
  MPI(MPI_Imrecv(in, 1, MPI_INT, &message, &receive));
  CHECK(message == MPI_MESSAGE_NULL);
  MPI(MPI_Wait(&receive, &status));
  CHECK(status.MPI_SOURCE == left() && in[0] == left());
  MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));

  MPI(MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status));
  CHECK(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL);
  MPI(MPI_Mrecv(in, 1, MPI_INT, &message, &status));
  CHECK(message == MPI_MESSAGE_NULL);
  MPI(MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  MPI(MPI_Iprobe(left(), 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));  // nothing there
  CHECK(!flag);
  MPI(MPI_Improbe(left(), 77, MPI_COMM_WORLD, &flag, &message, &status));
  CHECK(!flag);

  // A receive that nobody answers.
  MPI(MPI_Irecv(in, 1, MPI_INT, left(), 55, MPI_COMM_WORLD, &request));
  MPI(MPI_Cancel(&request));
  MPI(MPI_Wait(&request, &status));
  MPI(MPI_Test_cancelled(&status, &flag));
  CHECK(flag);
  MPI(MPI_Irecv(in, 1, MPI_INT, left(), 56, MPI_COMM_WORLD, &request));
  MPI(MPI_Isend(out, 1, MPI_INT, right(), 56, MPI_COMM_WORLD, &receive));
  MPI(MPI_Wait(&request, &status));
  MPI(MPI_Test_cancelled(&status, &flag));
  CHECK(!flag);
  MPI(MPI_Wait(&receive, MPI_STATUS_IGNORE));
  return finish();
}
