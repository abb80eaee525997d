// How far below the entry of a Fortran binding the stack may be when it calls its C function, in bytes. Also for
// assembly.
#define CAIRN_BINDING_FRAMES 65536  // MPICH 4.0.2's largest is 1.2 KiB
