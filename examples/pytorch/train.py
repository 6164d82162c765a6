"""Distributed training with PyTorch on JobSet, and nothing else: a small model, made-up data.

Every worker finds its place by what JobSet and the Job give it:

    JOB_GLOBAL_INDEX      label jobset.sigs.k8s.io/job-global-index: which Job
    JOB_COMPLETION_INDEX  set by Kubernetes: which Pod of the Job
    JOBS, PODS_PER_JOB    how many there are
    MASTER_ADDR           label jobset.sigs.k8s.io/coordinator: the stable name of the first worker

With CHECKPOINTS set, each worker keeps its last checkpoint in that directory. It may be a volume
of the Pod alone: on start the workers compare what they have, and the one with the newest
checkpoint gives it to the others. So a Pod that was replaced, and comes with an empty
directory, costs nothing as long as one other is left.
"""

import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = int(os.environ.get("STEPS", "200"))
CHECKPOINT_EVERY = 10
DIRECTORY = os.environ.get("CHECKPOINTS", "")
FILE = os.path.join(DIRECTORY, "checkpoint.pt")
# To see a restart: the last worker ends itself at this step, once per Pod.
FAIL_AT_STEP = int(os.environ.get("FAIL_AT_STEP", "0"))


def connect():
    """Joins the group and returns our rank in it."""
    pods = int(os.environ["PODS_PER_JOB"])
    rank = int(os.environ["JOB_GLOBAL_INDEX"]) * pods + int(os.environ["JOB_COMPLETION_INDEX"])
    size = int(os.environ["JOBS"]) * pods
    address = f"tcp://{os.environ['MASTER_ADDR']}:{os.environ.get('MASTER_PORT', '29500')}"
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    dist.init_process_group(backend, init_method=address, rank=rank, world_size=size)
    return rank


def save(step, model, optimizer):
    """Writes a checkpoint that is either whole or not there."""
    state = {"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state, FILE + ".new")
    os.replace(FILE + ".new", FILE)


def resume(model, optimizer, device):
    """Brings all workers to the newest checkpoint that any of them has; returns its step."""
    mine = torch.load(FILE, map_location="cpu", weights_only=True) if DIRECTORY and os.path.exists(FILE) else None
    steps = [None] * dist.get_world_size()
    dist.all_gather_object(steps, mine["step"] if mine else 0)
    newest = max(steps)
    if newest == 0:
        return 0
    source = steps.index(newest)
    box = [mine if dist.get_rank() == source else None]
    dist.broadcast_object_list(box, src=source, device=device)
    model.load_state_dict(box[0]["model"])
    optimizer.load_state_dict(box[0]["optimizer"])
    return newest


def fail_once(step, rank):
    """Ends the last worker at the step it was told to, unless it did so before."""
    marker = os.path.join(DIRECTORY, "failed-once")
    if DIRECTORY and step == FAIL_AT_STEP and rank == dist.get_world_size() - 1 and not os.path.exists(marker):
        open(marker, "w").close()
        print("failing as told", flush=True)
        os._exit(1)


def main():
    rank = connect()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)  # the same model everywhere
    model = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    start = resume(model, optimizer, device)
    if rank == 0:
        print(f"{dist.get_world_size()} workers start after step {start}", flush=True)
    parallel = DistributedDataParallel(model)

    for step in range(start + 1, STEPS + 1):
        fail_once(step, rank)
        torch.manual_seed(step * dist.get_world_size() + rank)  # other data for each worker and step
        inputs = torch.rand(256, 8, device=device)
        loss = torch.nn.functional.mse_loss(parallel(inputs), inputs.sin().sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % CHECKPOINT_EVERY == 0:
            if DIRECTORY:
                save(step, model, optimizer)
            if rank == 0:
                print(f"step {step} loss {loss.item():.5f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
