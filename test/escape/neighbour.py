"""The outside of the wall: secrets, services and processes that probes try to reach, and what they did to them. Speaks JSON lines."""
import ctypes, json, os, platform, secrets, select, signal, socket, struct, subprocess, sys, threading, time

order = json.loads(sys.stdin.readline())
ROOT, WORKSPACE, TAGS, VICTIMS = order["root"], order["workspace"], order["tags"], order["victims"]
CANARY = order["canary"]
LEFT_SECONDS = 2
libc = ctypes.CDLL(None, use_errno=True)
X64 = platform.machine() == "x86_64"
reached = set()


def note(data):
    for word in data.decode(errors="replace").split():
        reached.add(word)


def welcome(guest):
    with guest:
        try:
            guest.settimeout(1)
            guest.sendall(CANARY.encode())
            note(guest.recv(200))
        except OSError:
            pass  # it went without a word


def listen(family, kind, address, protocol=0):
    try:
        s = socket.socket(family, kind, protocol)
        s.bind(address)
    except OSError:
        return None
    if kind != socket.SOCK_DGRAM:
        s.listen(64)

    def work():
        while True:
            if kind == socket.SOCK_DGRAM:
                data, peer = s.recvfrom(500)
                note(data)
                try:
                    s.sendto(CANARY.encode(), peer)
                except (OSError, TypeError):
                    pass  # it has no address to answer to
            else:
                threading.Thread(target=welcome, args=(s.accept()[0],), daemon=True).start()

    threading.Thread(target=work, daemon=True).start()
    return s.getsockname()[1] if family in (socket.AF_INET, socket.AF_INET6) else address


def visit():
    """Comes in wherever a probe says that it serves."""
    while True:
        for name in [one for one in os.listdir(WORKSPACE) if one.startswith("serving-")]:
            try:
                with open(os.path.join(WORKSPACE, name)) as file:
                    port = int(file.read() or 0)
                for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
                    with socket.socket(family, socket.SOCK_STREAM) as s:
                        s.settimeout(0.2)
                        if s.connect_ex((host, port)) == 0:
                            note(s.recv(100))
            except (OSError, ValueError):
                pass  # not there yet, or not for us
        time.sleep(0.05)


def put(name, text, mode=0o600):
    path = os.path.join(ROOT, name)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


def call(x64, arm64, *args):
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in args]
    return libc.syscall(ctypes.c_long(x64 if X64 else arm64), *given)


def shared_memory():
    key = secrets.randbelow(1 << 30) + 1
    seg = call(29, 194, key, 4096, 0o1600)
    libc.shmat.restype = ctypes.c_void_p
    at = libc.shmat(seg, None, 0)
    if seg >= 0:
        ctypes.memmove(at, CANARY.encode(), len(CANARY))
    return key, lambda: call(31, 195, seg, 0, 0)


def messages():
    key = secrets.randbelow(1 << 30) + 1
    queue = call(68, 186, key, 0o1600)
    for _ in range(2):
        call(69, 189, queue, struct.pack("q", 1) + CANARY.encode(), len(CANARY), 0)
    return key, lambda: call(71, 187, queue, 0, 0)


def semaphores():
    key = secrets.randbelow(1 << 30) + 1
    group = call(64, 190, key, 1, 0o1600)
    return key, lambda: call(66, 191, group, 0, 0)


def posix_queue():
    name = "escape" + secrets.token_hex(6)
    queue = call(240, 180, name.encode(), os.O_RDWR | os.O_CREAT, 0o600, 0)
    call(242, 182, queue, CANARY.encode(), len(CANARY), 0, 0)
    return name, lambda: call(241, 181, name.encode())


def user_key():
    name = "escape" + secrets.token_hex(6)
    user_keyring = -4
    key = call(248, 217, b"user", name.encode(), CANARY.encode(), len(CANARY), user_keyring)
    return name, lambda: call(250, 219, 9, key, user_keyring)  # unlink


def stack_of(pid):
    with open(f"/proc/{pid}/maps") as maps:
        line = [one for one in maps if "[stack]" in one][0]
    start, end = line.split()[0].split("-")
    return [int(start, 16), int(end, 16)]


def victim(descriptor):
    env = {"SECRET": CANARY, "PATH": "/usr/bin:/bin"}
    child = subprocess.Popen(["/bin/sleep", "600"], env=env, pass_fds=(descriptor,), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
    while b"sleep" not in open(f"/proc/{child.pid}/cmdline", "rb").read():
        time.sleep(0.001)
    os.set_blocking(child.stdout.fileno(), False)
    return child


def text(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def look_at_process(child):
    base = f"/proc/{child.pid}"
    stat = text(f"{base}/stat").rsplit(")", 1)[-1].split()
    state = stat[0] if stat else "gone"
    status = [line for line in text(f"{base}/status").splitlines() if line.startswith(("Cpus_allowed:", "SigPnd", "ShdPnd"))]
    return {
        "ended": child.poll(),
        "stopped": state == "T" or state == "t",
        "priority": stat[15:17] + stat[37:39] if stat else [],
        "limits": text(f"{base}/limits"),
        "status": status,
        "oom": text(f"{base}/oom_score_adj"),
        "slack": text(f"{base}/timerslack_ns"),
        "dump": text(f"{base}/coredump_filter"),
        "io": call(252, 31, 1, child.pid),
        "said": (child.stdout.read() or b"").decode(errors="replace"),
    }


def look_at_folder(folder):
    found = {}
    for place, folders, files in os.walk(folder):
        for name in [".", *folders, *files]:
            path = os.path.join(place, name)
            try:
                s = os.lstat(path)
                plain = s.st_mode & 0o170000 == 0o100000
                content = text(path) if plain else os.readlink(path) if os.path.islink(path) else ""
                marks = {one: os.getxattr(path, one).hex() for one in os.listxattr(path, follow_symlinks=False)}
                found[path] = [s.st_mode, s.st_uid, s.st_gid, s.st_size, s.st_mtime_ns, s.st_nlink, s.st_ino, content, str(marks)]
            except OSError as error:
                found[path] = [str(error)]
    return found


def left_processes():
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                first = file.read().split(b"\0")[0].decode(errors="replace")
        except OSError:
            continue  # it ended meanwhile
        if first.startswith("left-") and first[5:] in TAGS:
            found[first[5:]] = int(name)
    return found


def found_left():
    """Those that a moment later are still there."""
    until = time.monotonic() + LEFT_SECONDS
    found = left_processes()
    while found and time.monotonic() < until:
        time.sleep(0.05)
        found = left_processes()
    for pid in found.values():
        os.kill(pid, signal.SIGKILL)
    return list(found)


short = os.path.join(order["sockets"], "")
world = {
    "token": put("state-secrets/token", CANARY),
    "database": put("state-secrets/gateway.db", "SQLite format 3\0" + CANARY),
    "audit": put("state-secrets/audit.key", CANARY),
    "config": put("state-secrets/pi-gateway.jsonc", CANARY),
    "log": put("state-secrets/logs/gateway.log", CANARY),
    "providerKey": put("state-secrets/provider.key", CANARY),
    "session": put("state-secrets/sessions/ann/session.jsonl", CANARY),
    "otherWorkspace": put("state-secrets/workspaces/ann/notes.txt", CANARY),
    "otherTemp": put("state-secrets/run/tmp-other/upload.txt", CANARY),
    "sshKey": put("person/.ssh/id_ed25519", CANARY),
    "cloudKey": put("person/.aws/credentials", CANARY),
    "history": put("person/.bash_history", CANARY),
    "script": put("person/bin/tool", f"#!/bin/sh\necho {CANARY}\n", 0o700),
    "readable": put("person/readable.txt", CANARY, 0o644),
    "memoryFile": None,
    "person": os.path.join(ROOT, "person"),
    "tcp": listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
    "tcp6": listen(socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)),
    "dnsTcp": listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
    "dns": listen(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
    "dns6": listen(socket.AF_INET6, socket.SOCK_DGRAM, ("::1", 0)),
    "docker": listen(socket.AF_UNIX, socket.SOCK_STREAM, short + "docker.sock"),
    "sshAgent": listen(socket.AF_UNIX, socket.SOCK_STREAM, short + "agent.1"),
    "bus": listen(socket.AF_UNIX, socket.SOCK_SEQPACKET, short + "bus"),
    "logSocket": listen(socket.AF_UNIX, socket.SOCK_DGRAM, short + "log"),
    "inWorkspace": listen(socket.AF_UNIX, socket.SOCK_STREAM, os.path.join(WORKSPACE, "service.sock")),
    "abstract": listen(socket.AF_UNIX, socket.SOCK_STREAM, "\0escape" + secrets.token_hex(6)),
    "abstractDatagram": listen(socket.AF_UNIX, socket.SOCK_DGRAM, "\0escape" + secrets.token_hex(6)),
}
memory_file = f"/dev/shm/escape-{secrets.token_hex(6)}"
with open(os.open(memory_file, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
    file.write(CANARY)
world["memoryFile"] = memory_file
endings = [lambda: os.unlink(memory_file)]
for field, make in (("sharedMemory", shared_memory), ("messages", messages), ("semaphores", semaphores), ("posixQueue", posix_queue), ("userKey", user_key)):
    world[field], end = make()
    endings.append(end)

canary_descriptor = os.open(world["token"], os.O_RDONLY)
children = {tag: victim(canary_descriptor) for tag in ["gateway", *VICTIMS]}
world |= {"gateway": children["gateway"].pid, "gatewayStack": stack_of(children["gateway"].pid), "gatewayDescriptor": canary_descriptor}
targets = {}
for tag in TAGS:
    folder = os.path.join(ROOT, "outside", tag)
    os.makedirs(folder, mode=0o700)
    put(f"outside/{tag}/target", "untouched")
    targets[tag] = folder
threading.Thread(target=visit, daemon=True).start()
processes_before = {tag: look_at_process(child) for tag, child in children.items()}
folders_before = {tag: look_at_folder(folder) for tag, folder in targets.items()}
pids = {tag: child.pid for tag, child in children.items()}
print(json.dumps({"world": world, "victims": pids, "targets": targets}), flush=True)

for _ in sys.stdin:
    left = found_left()
    evidence = {
        "reached": [tag for tag in TAGS if tag in reached],
        "left": left,
        "changed": [tag for tag, folder in targets.items() if look_at_folder(folder) != folders_before[tag]],
        "hurt": [tag for tag, child in children.items() if look_at_process(child) != processes_before[tag]],
    }
    print(json.dumps(evidence), flush=True)
for child in children.values():
    child.kill()
    child.wait()
for end in endings:
    try:
        end()
    except OSError:
        pass  # a probe was there first
