! What cairn/tracing.h is for C: compile it with the program, and `use cairn_tracing`.
module cairn_tracing
  implicit none
contains
  subroutine cairn_tracing_on()
    external :: MPI_Pcontrol
    call MPI_Pcontrol(1)
  end subroutine cairn_tracing_on

  subroutine cairn_tracing_off()
    external :: MPI_Pcontrol
    call MPI_Pcontrol(0)
  end subroutine cairn_tracing_off
end module cairn_tracing
