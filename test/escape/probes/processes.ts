/** Signals to processes outside, programs that stay behind, and more of the machine than one agent may use. */
import { type Probe, probesOf } from "./probe.ts";

const signal = (program: string): Omit<Probe, "class" | "name"> => ({
  program: `${program}; time.sleep(0.05)`,
  victim: true,
});

export const SIGNALS: readonly Probe[] = probesOf("signals and daemons", {
  "kill of the gateway": signal(`os.kill(me.victim, signal.SIGTERM)`),
  "kill of the gateway's process group": signal(`os.killpg(me.victim, signal.SIGTERM)`),
  "the command kill": signal(`sh(f"kill -9 {me.victim}")`),
  "a stop of the gateway": signal(`os.kill(me.victim, signal.SIGSTOP)`),
  "tgkill of the gateway": signal(`call("tgkill", me.victim, me.victim, 15)`),
  "tkill of the gateway": signal(`call("tkill", me.victim, 15)`),
  "rt_sigqueueinfo to the gateway": signal(
    `call("rt_sigqueueinfo", me.victim, 15, struct.pack("iiiiii", 15, 0, -1, 0, 0, 0).ljust(128, b"\\0"))`,
  ),
  "rt_tgsigqueueinfo to the gateway": signal(
    `call("rt_tgsigqueueinfo", me.victim, me.victim, 15, struct.pack("iiiiii", 15, 0, -1, 0, 0, 0).ljust(128, b"\\0"))`,
  ),
  "pidfd_send_signal to the gateway": signal(`call("pidfd_send_signal", call("pidfd_open", me.victim, 0), 15, 0, 0)`),
  "a signal by the owner of a descriptor": signal(
    `
a, b = socket.socketpair()
fcntl.fcntl(a, fcntl.F_SETOWN, me.victim)
fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | os.O_ASYNC)
b.send(b"x")`,
  ),
  "a signal by the owner of a pipe, with a number of its own": signal(
    `
a, b = os.pipe()
fcntl.fcntl(a, 10, 15)
fcntl.fcntl(a, 15, struct.pack("ii", 1, me.victim))
fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | os.O_ASYNC)
os.write(b, b"x")`,
  ),
  "the question whether the gateway is there": `os.kill(w.gateway, 0); through("it is")`,
  "a handle of the gateway": `through(f"descriptor {call('pidfd_open', w.gateway, 0)}")`,
  "a program in a session of its own": `
    if os.fork() == 0:
        os.setsid()
        linger()`,
  "a program without parents": `
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0: linger()
        os._exit(0)
    os.wait()`,
  "a program without parents and without its mark": `
    if os.fork() == 0:
        os.setsid()
        try: resource.setrlimit(10, (1, 1))
        except (OSError, ValueError): pass
        if os.fork() == 0:
            os.environ.clear()
            linger()
        os._exit(0)
    os.wait()`,
  "a program by nohup": `sh(f"nohup setsid /usr/bin/python3 -c 'import os; os.execv(\\"/bin/sleep\\", [\\"left-{me.tag}\\", \\"60\\"])' >/dev/null 2>&1 & sleep 0.2")`,
  "a program that ignores signals": `
    if os.fork() == 0:
        os.setsid()
        for number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)
        linger()`,
  "a program that is stopped": `
    began, closes = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        linger()
    os.close(closes)
    os.read(began, 1)  # returns when the child has become the program, which closes the other end
    os.kill(child, signal.SIGSTOP)`,
});

/** Each is above what PROBE_LIMITS allow. */
const PROCESSES = 400;
const FILES_AT_ONCE = 66_000;
export const RESOURCES: readonly Probe[] = probesOf("resources", {
  "processes without end": `
    children = []
    try:
        while len(children) < ${PROCESSES}:
            child = os.fork()
            if child == 0:
                signal.pause()
                os._exit(0)
            children.append(child)
        through(f"{len(children)} processes")
    finally:
        for child in children: os.kill(child, signal.SIGKILL)
        for child in children: os.waitpid(child, 0)`,
  "threads without end": `
    gate = threading.Event()
    threading.stack_size(65536)
    count = 0
    try:
        while count < ${PROCESSES}:
            threading.Thread(target=gate.wait, daemon=True).start()
            count += 1
        through(f"{count} threads")
    finally: gate.set()`,
  "memory of one process": {
    program: `
      libc.mmap.restype = ctypes.c_void_p
      libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
      if libc.mmap(None, 12 << 30, 3, 0x4022, -1, 0) in (None, ctypes.c_void_p(-1).value): raise OSError(ctypes.get_errno(), "mmap")
      through("12 GB")`,
  },
  "memory that cannot be swapped": {
    program: `
      page = mmap.mmap(-1, 64 << 20)
      if libc.mlock(ctypes.byref(ctypes.c_char.from_buffer(page)), ctypes.c_size_t(64 << 20)) != 0: raise OSError(ctypes.get_errno(), "mlock")
      through("64 MB")`,
    needs: "root, or a high limit of locked memory",
  },
  "a file without end": `
    with open(me.tag, "w") as file: os.ftruncate(file.fileno(), 2 << 30)
    through("2 GB")`,
  "limits raised again": `
    for name in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_DATA, resource.RLIMIT_CORE):
        soft, hard = resource.getrlimit(name)
        if name != resource.RLIMIT_NOFILE and hard == resource.RLIM_INFINITY: through(f"limit {name} is open")
        try:
            resource.setrlimit(name, (hard, hard + 1 if hard > 0 else 1))
            through(f"limit {name} was raised")
        except (OSError, ValueError): pass`,
  "descriptors without end": {
    program: `
      soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
      resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
      first = os.open("/dev/null", os.O_RDONLY)
      for _ in range(1200): os.dup(first)
      through("1200 descriptors")`,
    needs: "a hard limit above 1,200 descriptors",
  },
  "/tmp filled": {
    program: `
      path = "/tmp/" + me.tag
      fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
      os.unlink(path)
      os.posix_fallocate(fd, 0, 600 << 20)
      through("600 MB")`,
    needs: "600 MB in /tmp",
  },
  "/dev/shm filled": {
    program: `
      path = "/dev/shm/" + me.tag
      fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
      os.unlink(path)
      os.posix_fallocate(fd, 0, 600 << 20)
      through("600 MB")`,
    needs: "600 MB in /dev/shm",
  },
  "names filled": {
    program: `
      folder = "/dev/shm/" + me.tag
      os.mkdir(folder)
      base = os.open(folder, os.O_RDONLY)
      try:
          for made in range(${FILES_AT_ONCE}): os.mknod(str(made), dir_fd=base)
          through(f"{made} files")
      finally:
          for one in os.listdir(base): os.unlink(one, dir_fd=base)
          os.rmdir(folder)`,
    needs: "a /dev/shm with room for 66,000 files",
  },
  "watchers of files used up": {
    program: `
      for _ in range(70): call("inotify_init1", 0)
      through("70 watchers")`,
    needs: "70 watchers that nobody else of this user has",
  },
  "watches of files used up": {
    program: `
      fd = call("inotify_init1", 0)
      for place in ("/dev/shm", os.environ.get("TMPDIR", "/tmp")):  # a disk takes ten times as long
          base = os.path.join(place, me.tag)
          try:
              os.mkdir(base)
              break
          except OSError: pass
      at = os.open(base, os.O_RDONLY)
      made = 0
      try:
          for made in range(33000):
              os.mknod(str(made), dir_fd=at)
              call("inotify_add_watch", fd, f"{base}/{made}".encode(), 2)
          through(f"{made} watches")
      finally:
          for one in range(made + 1): os.unlink(str(one), dir_fd=at)
          os.rmdir(base)`,
    needs: "fs.inotify.max_user_watches above 33,000",
  },
  "a priority above others": { program: `os.nice(-5); through("raised")`, needs: "root" },
  "a real-time priority": {
    program: `os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10)); through("raised")`,
    needs: "root",
  },
  "protection from the lack of memory": {
    program: `open("/proc/self/oom_score_adj", "w").write("-500"); through("protected")`,
    needs: "root",
  },
  "core dumps": `
    resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    through("allowed")`,
});
