#!/bin/bash
# The blocks of a plan as a job array: each task computes one, on whatever node is free.
#
#   pairwave plan allpairs genes.fa --min-identity 0.97 --max-blocks 1001 -o genes.plan
#   PLAN=genes.plan sbatch --array="$(pairwave run genes.plan --missing)" --export=ALL slurm.sh
#   pairwave merge genes.plan -o genes.tsv
#
# Indices of an array end at 1000 unless the cluster's MaxArraySize says otherwise, which --max-blocks heeds. When some tasks have
# failed, the same sbatch line computes what is missing. '%20' behind the list lets 20 tasks run at once.
#
# A node that fails, or that a job of higher priority takes, is harmless: Slurm queues the task again, and a block that was
# finished meanwhile is not computed a second time.

#SBATCH --job-name=pairwave
#SBATCH --requeue
#SBATCH --cpus-per-task=8
#SBATCH --output=pairwave-%A-%a.log
# A GPU a task; leave it out on clusters without. Slurm shows the task its own only, so that --device needs no word:
##SBATCH --gpus-per-task=1

set -euo pipefail
: "${PLAN:?name the plan: PLAN=genes.plan sbatch --export=ALL ...}"
exec "${PAIRWAVE:-pairwave}" run "$PLAN" --block "$SLURM_ARRAY_TASK_ID" --threads "${SLURM_CPUS_PER_TASK:-1}"
