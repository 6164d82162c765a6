"""Distributed training with PyTorch that loses nothing when it is killed: a small network, made-up data.

torchrun starts it, or whatever sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, in the directory CHECKPOINTS, which all
ranks share: rank 0 saves a checkpoint every SAVE_EVERY steps and gives it to all after a restart. Each line of output is
JSON, the last with a checksum of the weights. It is the same, bit for bit, however often the training was interrupted, as
long as the number of ranks is; the number may change at each start."""

import contextlib
import datetime
import faulthandler
import glob
import hashlib
import json
import os
import signal
import socket
import tempfile
import time


def say(what, **more):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    who = {"epoch": os.environ.get("JOBSET_EPOCH", ""), "rank": os.environ.get("RANK", "")}
    print(json.dumps({"time": now, "msg": what, **who, **more}, separators=(",", ":")), flush=True)


def notify(sign):
    """Gives a sign of life, if failurePolicy.inPlaceRestart.progress asks for some."""
    if path := os.environ.get("NOTIFY_SOCKET"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as mailbox:
            mailbox.sendto(sign.encode(), path)


faulthandler.register(signal.SIGUSR1)  # for dumpSignal: USR1, which asks for the stacks of all threads

# With failurePolicy.inPlaceRestart.warmStart a second copy of this program waits while the first one trains.
STANDBY = "JOBSET_GATE" in os.environ and "JOBSET_EPOCH" not in os.environ
say("standby" if STANDBY else "start", pid=os.getpid())  # before the imports, which take seconds
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # or cuBLAS may compute differently each time

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402

STEPS = int(os.environ.get("STEPS", "200"))
SAVE_EVERY = int(os.environ.get("SAVE_EVERY", "10"))
STEP_SECONDS = float(os.environ.get("STEP_SECONDS", "0"))  # added to each step, as if the network were larger
FAIL_AT_STEP = int(os.environ.get("FAIL_AT_STEP", "0"))  # the last rank exits with 1 at this step, once, to show a restart


def make_directory():
    """Makes the directory in which this start saves, with a number above all others: newest() looks there first. So a rank 0
    of an earlier start that was cut off, and comes back late, undoes nothing, whatever it saves and however many ranks it had."""
    number = 1 + max((int(name.removeprefix("start-")) for name in glob.glob("start-*")), default=0)
    os.mkdir(f"start-{number:06d}")  # fails if another rank 0 has just made it
    return f"start-{number:06d}"


def save(directory, step, state):
    """Writes a checkpoint that is either whole or not there."""
    file, aside = tempfile.mkstemp(dir=directory, prefix="unfinished-")
    with os.fdopen(file, "wb") as out:
        torch.save(state, out)
        out.flush()
        os.fsync(out.fileno())
    os.rename(aside, f"{directory}/step-{step:09d}.pt")
    for name in directory, ".":
        parent = os.open(name, os.O_RDONLY)
        os.fsync(parent)  # or the name may be lost with the machine
        os.close(parent)
    remove(checkpoints()[2:])


def newest():
    """Returns the newest checkpoint that can be read, if any. Rank 0 alone looks, so that all go on from the same one."""
    remove(glob.glob("start-*/unfinished-*"))
    for name in checkpoints():
        try:
            return torch.load(name, map_location="cpu")
        except (OSError, RuntimeError, EOFError) as problem:
            say("skipped a checkpoint", name=name, problem=str(problem))


def checkpoints():
    """Returns all, the newest first: of the last start that has saved any the one with the highest step."""
    return sorted(glob.glob("start-*/step-*.pt"), reverse=True)


def remove(names):
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            os.remove(name)


def stops(told, device):
    """Says whether any rank was told to end. All ask after each step, so all stop after the same one."""
    flag = torch.tensor([float(len(told))], device=device)
    dist.all_reduce(flag, dist.ReduceOp.MAX)
    return flag.item() > 0


def pass_gate():
    """Waits until the variables of the run come through the gate, if there is one. Nothing before may use a device, a port or
    a file of the training."""
    if STANDBY:
        say("waits")
    if gate := os.environ.get("JOBSET_GATE"):
        os.environ.update(json.load(open(gate)))
    if STANDBY:
        say("start", pid=os.getpid())


def main():
    pass_gate()
    torch.manual_seed(0)  # the same network everywhere
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)  # or the order of additions depends on the machine
    device = torch.device(f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if torch.cuda.is_available() else "cpu")
    say("imported")
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    dist.barrier()
    say("connected", size=size)
    model = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    box = [newest() if rank == 0 else None]
    directory = make_directory() if rank == 0 else None
    dist.broadcast_object_list(box, src=0, device=device)
    if box[0]:
        model.load_state_dict(box[0]["model"])
        optimizer.load_state_dict(box[0]["optimizer"])
    start = box[0]["step"] if box[0] else 0
    # Otherwise DDP regroups the gradients after the first step of each start, and then adds them up in another order.
    parallel = DistributedDataParallel(model, find_unused_parameters=True)
    notes = open("steps", "a+")  # rank 0 notes what it has done: which steps were lost, and are done twice?
    notes.seek(0)
    done = [int(line) for line in notes if line.strip().isdigit()]
    twice = len(done) - len(set(done))
    say("loaded", step=start)
    told = []  # before this point SIGTERM ends the program: there is nothing to save
    signal.signal(signal.SIGTERM, lambda *_: told.append(True))
    for step in range(start + 1, STEPS + 1):
        if step == FAIL_AT_STEP and rank == size - 1 and not os.path.exists("failed"):
            open("failed", "w").close()
            raise SystemExit(1)
        torch.manual_seed(step * size + rank)  # other data for each worker and step, the same after a restart
        inputs = torch.rand(256, 8).to(device)
        loss = torch.nn.functional.mse_loss(parallel(inputs), inputs.sin().sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(STEP_SECONDS)
        notify(f"X_JOBSET_STEP={step}")
        if rank == 0:
            print(step, file=notes, flush=True)
            twice += step in done
            say("step", step=step, loss=round(loss.item(), 5), twice=twice)
        last = stops(told, device)
        if rank == 0 and (last or step % SAVE_EVERY == 0):
            save(directory, step, {"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()})
        if last:
            dist.barrier()  # until rank 0 has saved
            say("saved", step=step)
            while not told:  # one that ends before it is told has finished
                time.sleep(0.01)
            return
    weights = b"".join(value.cpu().numpy().tobytes() for value in model.state_dict().values())
    say("finished", step=STEPS, checksum=hashlib.sha256(weights).hexdigest())
    dist.barrier()


if __name__ == "__main__":
    os.chdir(os.environ.get("CHECKPOINTS", "."))
    main()
