"""Uses up what one agent may have, all at once, for some seconds: processes that spin, memory, disk, names, descriptors, file watches."""
import ctypes, os, signal, sys, time

SECONDS = float(sys.argv[1])
MEMORY = 1500 << 20
libc = ctypes.CDLL(None, use_errno=True)


def until_refused(step, most):
    """How often it went well."""
    for count in range(most):
        try:
            if step(count) is False:
                return count
        except OSError:
            return count
    return most


def in_child(name, work):
    """Holds what it got until it is killed."""
    pid = os.fork()
    if pid == 0:
        with open(f"hog-{name}-new", "w") as file:  # before there are no descriptors left
            try:
                file.write(str(work()))
            except BaseException as error:
                file.write(repr(error))
        os.rename(f"hog-{name}-new", f"hog-{name}")
        signal.pause()
    return pid


def fill(folder):
    with open(f"{folder}/hog", "wb", buffering=0) as file:
        return until_refused(lambda _: file.write(b"x" * (1 << 20)) == 1 << 20, 700)


def name_files():
    os.makedirs("/dev/shm/names", exist_ok=True)
    base = os.open("/dev/shm/names", os.O_RDONLY)
    return until_refused(lambda count: os.mknod(str(count), dir_fd=base), 70_000)


def watch_files():
    instances = [libc.inotify_init1(0) for _ in range(100)]
    opened = [one for one in instances if one >= 0]
    watched = 0
    for place, _, files in os.walk("/usr"):
        for name in files:
            if libc.inotify_add_watch(opened[0], os.path.join(place, name).encode(), 2) < 0:
                return f"{len(opened)} {watched}"
            watched += 1
    return f"{len(opened)} {watched}"


def hold_memory():
    globals()["held"] = bytearray(MEMORY)
    return MEMORY


def spin(_):
    if os.fork() == 0:
        os.setsid()  # the kernel shares processors between sessions
        while time.monotonic() < END:
            pass
        os._exit(0)


GREED = {
    "memory": hold_memory,
    "tmp": lambda: fill("/tmp"),
    "names": name_files,
    "watches": watch_files,
    "descriptors": lambda: until_refused(lambda _: os.open("/dev/null", os.O_RDONLY), 100_000),
}
holders = [in_child(name, work) for name, work in GREED.items()]
while not all(os.path.exists(f"hog-{name}") for name in GREED):
    time.sleep(0.05)
END = time.monotonic() + SECONDS
open("hog-spins", "w").close()
count = until_refused(spin, 5_000)
while time.monotonic() < END:
    time.sleep(0.1)
with open("hog-processes", "w") as file:
    file.write(str(count))
for pid in holders:
    os.kill(pid, signal.SIGKILL)
print("done")
