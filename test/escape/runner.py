"""Runs probes one after the other, each in a process of its own, and writes what each said. Runs behind the wall: judges nothing."""
import ctypes, errno, fcntl, json, mmap, os, platform, resource, select, signal, socket, struct, subprocess, sys, textwrap, threading, time
from types import SimpleNamespace

PROBE_SECONDS = 25  # far above what any takes, also on a machine that is busy
RACE_SECONDS = 5
RACE_CHANGES = 40
OUTPUT_BYTES = 65536
libc = ctypes.CDLL(None, use_errno=True)
X64 = platform.machine() == "x86_64"
# name: number on x64, number on arm64
NUMBERS = dict(
    ptrace=(101, 117), process_vm_readv=(310, 270), process_vm_writev=(311, 271), pidfd_open=(434, 434), pidfd_getfd=(438, 438),
    kcmp=(312, 272), pidfd_send_signal=(424, 424), tgkill=(234, 131), tkill=(200, 130), rt_sigqueueinfo=(129, 138),
    rt_tgsigqueueinfo=(297, 240), prlimit64=(302, 261), sched_setattr=(314, 274), ioprio_set=(251, 30), process_madvise=(440, 440),
    move_pages=(279, 239), migrate_pages=(256, 238), io_uring_setup=(425, 425), userfaultfd=(323, 282), perf_event_open=(298, 241),
    bpf=(321, 280), add_key=(248, 217), request_key=(249, 218), keyctl=(250, 219), shmget=(29, 194), shmat=(30, 196),
    msgget=(68, 186), msgrcv=(70, 188), semget=(64, 190), semctl=(66, 191), mq_open=(240, 180), mq_timedreceive=(243, 183),
    unshare=(272, 97), clone=(56, 220), clone3=(435, 435), setns=(308, 268), mount=(165, 40), umount2=(166, 39), chroot=(161, 51),
    pivot_root=(155, 41), fsopen=(430, 430), open_tree=(428, 428), mount_setattr=(442, 442), syslog=(103, 116),
    personality=(135, 92), memfd_secret=(447, 447), fanotify_init=(300, 262), name_to_handle_at=(303, 264),
    open_by_handle_at=(304, 265), setxattr=(188, 5), inotify_init1=(294, 26), inotify_add_watch=(254, 27), openat2=(437, 437),
    renameat2=(316, 276), fchmodat2=(452, 452), mknodat=(259, 33), sethostname=(170, 161), swapon=(167, 224), iopl=(172, None),
    modify_ldt=(154, None), mbind=(237, 235), quotactl=(179, 60), init_module=(175, 105), capset=(126, 91), socket=(41, 198),
    getpid=(39, 172), acct=(163, 89), statmount=(457, 457), getpriority=(140, 141), linkat=(265, 37), adjtimex=(159, 171),
)


def call(name, *args):
    """The kernel's call by its name. Raises OSError."""
    number = NUMBERS[name][0 if X64 else 1]
    if number is None:
        impossible(f"{name} does not exist on this processor")
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in args]
    result = libc.syscall(ctypes.c_long(number), *given)
    if result == -1:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return result


def through(what):
    print("THROUGH", what, flush=True)


def impossible(why):
    """Not for this machine, wall or no wall."""
    print("IMPOSSIBLE", why, flush=True)
    os._exit(0)


def read(path, size=4096):
    with open(path, "rb") as file:
        print(file.read(size), flush=True)


def sh(command, program="/bin/sh", **more):
    done = subprocess.run([program, "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=6, **more)
    print(done.stdout.decode(errors="replace"), flush=True)
    return done


def js(code):
    done = subprocess.run([w.bun, "--config=/dev/null", "-e", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=6)
    print(done.stdout.decode(errors="replace"), flush=True)


def talk(s, address):
    """Connects, says whose probe this is, and prints the answer: the listener outside notes the one and sends the other."""
    s.settimeout(1)
    s.connect(address)
    s.send(me.tag.encode())
    print(s.recv(200), flush=True)


def ask(s, address):
    """The same by one datagram."""
    s.settimeout(0.5)
    s.sendto(me.tag.encode(), address)
    print(s.recv(200), flush=True)


def serve(s):
    """Waits until somebody outside has come in. `s` listens already."""
    with open(os.path.join(w.workspace, f"serving-{me.tag}"), "w") as file:
        file.write(str(s.getsockname()[1]))
    s.settimeout(0.7)
    guest, _ = s.accept()
    guest.sendall(b"serving " + me.tag.encode())
    time.sleep(0.1)


def linger():
    """Becomes a process that a person outside would find by its name."""
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.execv("/bin/sleep", [f"left-{me.tag}", "60"])


def peek(pid, address, size=8192):
    """Memory of another process by process_vm_readv."""
    buffer = ctypes.create_string_buffer(size)
    local, remote = struct.pack("QQ", ctypes.addressof(buffer), size), struct.pack("QQ", address, size)
    got = call("process_vm_readv", pid, local, 1, remote, 1, 0)
    return buffer.raw[:got]


def refused(errors, action):
    """True when the kernel got as far as looking at nonsense arguments: whoever is not allowed is told before."""
    try:
        action()
        return True
    except OSError as error:
        return error.errno in errors


def race(other, mine, rounds=1000):
    """Both over and over in two processes, until each has had its rounds and they have taken turns. `mine` ends it by returning True."""
    turns = mmap.mmap(-1, 8)
    child = os.fork()
    while child == 0:
        try:
            other()
        except OSError:
            pass  # the other one was there first
        had = struct.unpack("Q", turns[0:8])[0] + 1
        turns[0:8] = struct.pack("Q", had)
        if had > rounds:
            os.sched_yield()  # its rounds are done: on a busy machine they take turns sooner
    end = time.monotonic() + RACE_SECONDS
    done = others = changes = 0
    try:
        while (done < rounds or others < rounds or changes < RACE_CHANGES) and time.monotonic() < end:
            done += 1
            before, others = others, struct.unpack("Q", turns[0:8])[0]
            changes += others > before
            if done > rounds:
                os.sched_yield()
            try:
                if mine():
                    return
            except OSError:
                pass  # as above, or the wall
    finally:
        os.kill(child, signal.SIGKILL)


def pi_above():
    """The process whose shell this is."""
    pid = os.getppid()
    while True:
        with open(f"/proc/{pid}/stat") as file:
            name, rest = file.read().rsplit(")", 1)
        if name.split("(", 1)[1] not in ("sh", "bash", "dash"):
            return pid
        pid = int(rest.split()[1])


def run(probe):
    """Forks, so that a probe may do to its process what it likes."""
    output = os.path.join(w.workspace, "said")
    with open(output, "w+b") as file:
        pid = os.fork()
        if pid == 0:
            status = 0
            try:
                os.setpgid(0, 0)
                signal.alarm(PROBE_SECONDS)
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
                globals()["me"] = SimpleNamespace(**probe["me"])
                exec(compile(textwrap.dedent(probe["program"]), probe["name"], "exec"), globals())
            except BaseException as error:
                print("ERROR", type(error).__name__, str(error)[:300], flush=True)
                status = 1
            sys.stdout.flush()
            os._exit(status)
        _, status = os.waitpid(pid, 0)
        file.seek(0)
        return {"name": probe["name"], "said": file.read(OUTPUT_BYTES).decode(errors="replace"), "status": status}


with open(sys.argv[1]) as source:
    world = json.load(source)
w = SimpleNamespace(**world["world"])
w.pi = pi_above() if world["pi"] == "above" else os.getpid()
if world["pi"] == "closed":
    libc.prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE, as the bridge does in pi
with open(world["report"], "w") as report:
    for one in world["probes"]:
        report.write(json.dumps(run(one)) + "\n")
        report.flush()
print("done", flush=True)
