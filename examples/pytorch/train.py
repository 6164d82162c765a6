"""Distributed training with PyTorch that loses nothing when it is killed: a small network, made-up data.

torchrun starts it, or whatever sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, in the directory CHECKPOINTS, which all
ranks share: rank 0 saves a checkpoint every SAVE_EVERY steps and gives it to all after a restart. Each line of output is
JSON, the last with a checksum of the weights. It is the same, bit for bit, however often the training was interrupted, as
long as the number of ranks is; the number may change at each start."""

import datetime
import faulthandler
import hashlib
import json
import os
import signal
import time
from pathlib import Path


def say(what, **more):
    who = {"epoch": os.environ.get("JOBSET_EPOCH", ""), "rank": os.environ.get("RANK", "")}
    line = {"time": datetime.datetime.now(datetime.timezone.utc).isoformat(), "msg": what, **who, **more}
    print(json.dumps(line, separators=(",", ":")), flush=True)


say("start", pid=os.getpid())  # before the imports, which take seconds
faulthandler.register(signal.SIGUSR1)  # for dumpSignal: USR1, which asks for the stacks of all threads
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # or cuBLAS may compute differently each time

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

STEPS = int(os.environ.get("STEPS", "200"))
SAVE_EVERY = int(os.environ.get("SAVE_EVERY", "10"))
STEP_SECONDS = float(os.environ.get("STEP_SECONDS", "0"))  # added to each step, as if the network were larger
FAIL_AT_STEP = int(os.environ.get("FAIL_AT_STEP", "0"))  # the last rank exits with 1 there, unless it has loaded a checkpoint


def checkpoints():
    """Returns all, the newest first: of the last start that has saved any the one with the highest step."""
    return sorted(Path().glob("start-*/step-*.pt"), reverse=True)


def newest():
    """Returns the newest checkpoint that can be read, if any. Rank 0 alone looks, so that all go on from the same one."""
    for file in checkpoints():
        try:
            return torch.load(file, map_location="cpu")
        except Exception as problem:
            say("skipped a checkpoint", file=str(file), problem=str(problem))


say("imported")
os.chdir(os.environ.get("CHECKPOINTS", "."))
if gate := os.environ.get("JOBSET_GATE"):  # with warmStart a second copy waits here while the first one trains
    with open(gate) as pipe:  # before, it may use no device, no port and no file of the training
        if os.fstat(pipe.fileno()).st_ino != int(os.environ["JOBSET_GATE_INODE"]):
            raise SystemExit(f"{gate} is not the gate: has a launcher closed it?")
        Path(os.environ["JOBSET_GATE_READY"]).write_text("\n")  # it is at its gate
        os.environ.update(json.load(pipe))  # fails if nothing comes
    say("start", pid=os.getpid())
torch.manual_seed(0)  # the same network everywhere
torch.use_deterministic_algorithms(True)
torch.set_num_threads(1)  # or the order of additions depends on the machine
device = torch.device(f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if torch.cuda.is_available() else "cpu")
dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
rank, size = dist.get_rank(), dist.get_world_size()
dist.barrier()
say("connected", size=size)
model = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
if rank == 0:
    # Each start saves in a directory of its own, where newest() looks first: a late rank 0 of an earlier start undoes nothing.
    directory = Path(f"start-{int(max((path.name[6:] for path in Path().glob('start-*')), default='0')) + 1:06d}")
    directory.mkdir()  # fails if another rank 0 has just made it
    folder = os.open(directory, os.O_RDONLY)
box = [newest() if rank == 0 else None]
dist.broadcast_object_list(box, src=0, device=device)
if loaded := box[0]:
    model.load_state_dict(loaded["model"])
    optimizer.load_state_dict(loaded["optimizer"])
start = loaded["step"] if loaded else 0
notes = open("steps", "a")  # a line for each step that was computed: those that are in no checkpoint are computed twice
say("loaded", step=start, twice=len(Path("steps").read_text().split()) - start)
# Otherwise DDP regroups the gradients after the first step of each start, and then adds them up in another order.
parallel = torch.nn.parallel.DistributedDataParallel(model, find_unused_parameters=True)
told = []  # before this point SIGTERM ends the program: there is nothing to save
signal.signal(signal.SIGTERM, lambda *_: told.append(True))
for step in range(start + 1, STEPS + 1):
    if step == FAIL_AT_STEP and start == 0 and rank == size - 1:
        raise SystemExit(1)
    torch.manual_seed(step * size + rank)  # other data for each worker and step, the same after a restart
    inputs = torch.rand(256, 8).to(device)
    loss = torch.nn.functional.mse_loss(parallel(inputs), inputs.sin().sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(STEP_SECONDS)
    Path(os.environ.get("JOBSET_PROGRESS_FILE", os.devnull)).write_text(str(step))  # a sign of life, see progress
    last = torch.tensor([float(len(told))], device=device)  # all ask whether any was told to end, so all end after this step
    dist.all_reduce(last, dist.ReduceOp.MAX)
    if rank == 0:
        print(step, file=notes, flush=True)
        say("step", step=step, loss=round(loss.item(), 5))
        if last or step % SAVE_EVERY == 0:
            with open(directory / "unfinished", "wb") as out:  # renamed when it is whole; the one before it is kept
                torch.save({"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, out)
                out.flush()
                os.fsync(out.fileno())
            os.rename(out.name, directory / f"step-{step:09d}.pt")
            os.fsync(folder)  # or the new name may be lost with the machine
            for old in [*checkpoints()[2:], *Path().glob("start-*/unfinished")]:
                old.unlink(missing_ok=True)
    if last:
        dist.barrier()  # until rank 0 has saved
        say("saved", step=step)
        while not told:  # one that ends before it is told has finished
            time.sleep(0.01)
        raise SystemExit
weights = b"".join(value.cpu().numpy().tobytes() for value in model.state_dict().values())
say("finished", step=STEPS, checksum=hashlib.sha256(weights).hexdigest())
