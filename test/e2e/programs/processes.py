# Lists the processes that supervisors have started, with all that descend from
# them: "EPOCH PID" in a line each. It is run by kubectl exec, and so is none of them.
import os

for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            environ = file.read().split(b"\0")
    except OSError:
        continue  # it has ended meanwhile
    for variable in environ:
        name, _, value = variable.partition(b"=")
        if name == b"JOBSET_EPOCH":
            print(value.decode(), pid)
