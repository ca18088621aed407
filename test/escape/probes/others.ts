/** Memory, descriptors, limits and messages of the gateway and of other programs of the same user, and of the process that started the probe. */
import { type Probe, probesOf } from "./probe.ts";

export const MEMORY: readonly Probe[] = probesOf("memory and descriptors of others", {
  "ptrace attaches to the gateway": {
    program: `call("ptrace", 16, me.victim, 0, 0); through("attached"); call("ptrace", 17, me.victim, 0, 0)`,
    victim: true,
    needs: "ptrace of other processes (yama)",
  },
  "ptrace seizes the gateway": {
    program: `call("ptrace", 0x4206, me.victim, 0, 0); through("seized")`,
    victim: true,
    needs: "ptrace of other processes (yama)",
  },
  "ptrace of its own child": `
    child = os.fork()
    if child == 0:
        call("ptrace", 0, 0, 0, 0)
        os._exit(7)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7: through("traced")`,
  "process_vm_readv of the gateway": {
    program: `print(peek(w.gateway, w.gatewayStack[1] - 8192))`,
    needs: "ptrace of other processes (yama)",
  },
  "process_vm_writev into the gateway": {
    program: `
      mine = ctypes.create_string_buffer(b"x" * 8)
      at = struct.pack("QQ", me.stack[1] - 4096 * 20, 8)
      call("process_vm_writev", me.victim, struct.pack("QQ", ctypes.addressof(mine), 8), 1, at, 1, 0)
      through("written")`,
    victim: true,
    needs: "ptrace of other processes (yama)",
  },
  "/proc/PID/mem of the gateway": {
    program: `
      with open(f"/proc/{w.gateway}/mem", "rb") as memory:
          memory.seek(w.gatewayStack[1] - 8192)
          print(memory.read(8192))`,
    needs: "ptrace of other processes (yama)",
  },
  "pidfd_getfd of the gateway": {
    program: `print(os.pread(call("pidfd_getfd", call("pidfd_open", w.gateway, 0), w.gatewayDescriptor, 0), 100, 0))`,
    needs: "ptrace of other processes (yama)",
  },
  "/proc/PID/fd of the gateway": `read(f"/proc/{w.gateway}/fd/{w.gatewayDescriptor}")`,
  "output of the gateway by /proc/PID/fd": {
    program: `open(f"/proc/{me.victim}/fd/1", "w").write("forged")`,
    victim: true,
  },
  "kcmp of the gateway": {
    program: `through(f"compared: {call('kcmp', os.getpid(), w.gateway, 0, 1, 1)}")`,
    needs: "ptrace of other processes (yama), and kcmp in the kernel",
  },
  "process_madvise of the gateway": {
    program: `
      where = struct.pack("QQ", me.stack[1] - 4096, 4096)
      call("process_madvise", call("pidfd_open", me.victim, 0), where, 1, 20, 0)
      through("advised")`,
    victim: true,
    needs: "root",
  },
  "move_pages of the gateway": {
    program: `
      pages, status = struct.pack("Q", w.gatewayStack[1] - 4096), ctypes.create_string_buffer(4)
      call("move_pages", w.gateway, 1, pages, 0, status, 0)
      through("looked at")`,
    needs: "NUMA in the kernel",
  },
  "ptrace of pi": {
    program: `call("ptrace", 0x4206, w.pi, 0, 0); through("seized")`,
    needs: "ptrace of other processes (yama)",
  },
  "process_vm_readv of pi": {
    program: `
      with open("/proc/self/maps") as maps:
          line = [one for one in maps if "[stack]" in one][0]
      through(f"{len(peek(w.pi, int(line.split()[0].split('-')[1], 16) - 8192))} bytes")`,
    needs: "ptrace of other processes (yama)",
  },
  "/proc/PID/mem of pi, written": {
    program: `open(f"/proc/{w.pi}/mem", "r+b", buffering=0); through("opened for writing")`,
    needs: "ptrace of other processes (yama)",
  },
  "/proc/PID/mem of pi, read": {
    program: `open(f"/proc/{w.pi}/mem", "rb", buffering=0); through("opened")`,
    needs: "ptrace of other processes (yama)",
  },
  "/proc/PID/maps of pi": `through(f"{len(open(f'/proc/{w.pi}/maps').read())} characters")`,
  "a line of the pipe protocol on the output of pi by /proc/PID/fd": {
    program: `
      open(f"/proc/{w.pi}/fd/1", "w").write("forged by " + me.tag + "\\n")
      through("written")`,
    needs: "an output that is a pipe; Bun makes a pair of sockets, which cannot be opened by name",
  },
  "a line of the pipe protocol on the output of pi by pidfd_getfd": {
    program: `
      os.write(call("pidfd_getfd", call("pidfd_open", w.pi, 0), 1, 0), b"forged by " + me.tag.encode() + b"\\n")
      through("written")`,
    needs: "ptrace of other processes (yama)",
  },
});

export const LIMITS_OF_OTHERS: readonly Probe[] = probesOf("limits and messages of others", {
  "prlimit of the gateway": { program: `call("prlimit64", me.victim, 7, struct.pack("QQ", 10, 10), 0)`, victim: true },
  "prlimit of the gateway, asked for": `
    old = ctypes.create_string_buffer(16)
    call("prlimit64", w.gateway, 7, 0, old)
    through("read")`,
  "the command prlimit": { program: `sh(f"prlimit --pid {me.victim} --nofile=10:10")`, victim: true },
  "renice of the gateway": { program: `os.setpriority(os.PRIO_PROCESS, me.victim, 10)`, victim: true },
  "renice of the gateway's process group": { program: `os.setpriority(os.PRIO_PGRP, me.victim, 10)`, victim: true },
  "the command renice": { program: `sh(f"renice -n 9 -p {me.victim}")`, victim: true },
  "affinity of the gateway": {
    program: `os.sched_setaffinity(me.victim, {0})`,
    victim: true,
    needs: "two processors",
  },
  "scheduler of the gateway": {
    program: `os.sched_setscheduler(me.victim, os.SCHED_IDLE, os.sched_param(0))`,
    victim: true,
  },
  "scheduler of the gateway by sched_setattr": {
    program: `call("sched_setattr", me.victim, struct.pack("IIQiIQQQ", 48, 3, 0, 0, 0, 0, 0, 0), 0)`,
    victim: true,
  },
  "disk priority of the gateway": { program: `call("ioprio_set", 1, me.victim, 3 << 13)`, victim: true },
  "memory pressure score of the gateway": {
    program: `open(f"/proc/{me.victim}/oom_score_adj", "w").write("900")`,
    victim: true,
  },
  "timers of the gateway": {
    program: `open(f"/proc/{me.victim}/timerslack_ns", "w").write("900000000")`,
    victim: true,
    needs: "root",
  },
  "core dumps of the gateway": {
    program: `open(f"/proc/{me.victim}/coredump_filter", "w").write("0x7f")`,
    victim: true,
  },
  "shared memory by its key": `
    libc.shmat.restype = ctypes.c_void_p
    at = libc.shmat(call("shmget", w.sharedMemory, 4096, 0), None, 0)
    print(ctypes.string_at(at, 64))`,
  "shared memory of its own, for others to find": `
    segment = call("shmget", 0, 4096, 0o1600)
    through(f"segment {segment}")
    libc.shmctl(segment, 0, None)`,
  "messages by their key": `
    buffer = ctypes.create_string_buffer(200)
    call("msgrcv", call("msgget", w.messages, 0), buffer, 100, 0, 0)
    print(buffer.raw)`,
  "semaphores by their key": `through(f"value {call('semctl', call('semget', w.semaphores, 1, 0), 0, 12, 0)}")`,
  "a message queue by its name": {
    program: `
      buffer = ctypes.create_string_buffer(10000)
      call("mq_timedreceive", call("mq_open", w.posixQueue.encode(), os.O_RDWR, 0, 0), buffer, 10000, 0, 0)
      print(buffer.raw[:100])`,
    needs: "message queues in the kernel",
  },
  "keys of the user": {
    program: `
      key = call("keyctl", 10, -4, b"user", w.userKey.encode(), 0)
      buffer = ctypes.create_string_buffer(200)
      call("keyctl", 11, key, buffer, 200)
      print(buffer.raw)`,
    needs: "keyrings in the kernel",
  },
  "a key for others to find": {
    program: `
      key = call("add_key", b"user", me.tag.encode(), b"x", 1, -4)
      through(f"key {key}")
      call("keyctl", 9, key, -4)`,
    needs: "keyrings in the kernel",
  },
  "a session keyring of somebody else": {
    program: `through(f"key {call('request_key', b'user', w.userKey.encode(), 0, 0)}")`,
    needs: "keyrings in the kernel",
  },
  "memory files of others": `read(w.memoryFile)`,
  "typing into a terminal": {
    program: `
      if os.fork() == 0:
          leader, follower = os.openpty()
          os.setsid()
          fcntl.ioctl(follower, 0x540E, 0)
          fcntl.ioctl(follower, 0x5412, b"x")
          through("typed")
          os._exit(0)
      os.wait()`,
    needs: "TIOCSTI in the kernel",
  },
});
