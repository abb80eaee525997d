"""What tests that run jobs of PnetCDF programs run in."""
import os


def environment(folder):
    """This one, without settings of ours or a preloaded library, for more ranks than cores; what Open MPI leaves goes to
    the folder: its jobs of one user share another, which the end of one removes while the next begins."""
    env = {name: value for name, value in os.environ.items() if not name.startswith('CAIRN_') and name != 'LD_PRELOAD'}
    env.update(OMPI_MCA_mpi_yield_when_idle='1', OMPI_MCA_rmaps_base_oversubscribe='1', OMPI_ALLOW_RUN_AS_ROOT='1',
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1', LC_ALL='C', OMPI_MCA_orte_tmpdir_base=str(folder))
    return env
