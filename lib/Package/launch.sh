#!/bin/sh
# Starts the executable of this process's pipeline rank, which it takes from the
# launcher's environment: OpenMPI, MPICH and others on PMI, Slurm, torchrun. The
# ranks of a pipeline follow each other, and pipelines do.
#
#   mpirun -n {ranks} launch --data tokens.bin --steps 1000
#   srun -n {ranks} launch ...
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit 2

rank=
for value in "$OMPI_COMM_WORLD_RANK" "$PMIX_RANK" "$PMI_RANK" "$SLURM_PROCID" "$RANK"; do
  if [ -n "$value" ]; then
    rank=$value
    break
  fi
done
if [ -z "$rank" ]; then
  if [ {ranks} -ne 1 ] && [ "$1" != --help ]; then
    echo "launch: no rank in the environment; start with 'mpirun -n {ranks} $0'" >&2
    exit 2
  fi
  rank=0
fi
case $rank in
*[!0-9]*)
  echo "launch: '$rank' in the environment is no rank" >&2
  exit 2
  ;;
esac
if [ "$rank" -ge {ranks} ]; then
  echo "launch: rank $rank of what was built for {ranks} ranks" >&2
  exit 14
fi

# More ranks than cores: waiting must give the core away.
local_ranks=${OMPI_COMM_WORLD_LOCAL_SIZE:-${SLURM_NTASKS_PER_NODE:-1}}
cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
if [ "$local_ranks" -gt "$cores" ] 2>/dev/null; then
  export OMPI_MCA_mpi_yield_when_idle=1
fi

program=$here/bin/rank-$(printf %03d $((rank % {pipeline})))
if [ ! -x "$program" ]; then
  echo "launch: cannot run '$program'; build again" >&2
  exit 3
fi
exec "$program" "$@"
