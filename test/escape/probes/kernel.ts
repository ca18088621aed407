/** New namespaces, mounts and programs for the kernel, and what /proc and /sys show of the machine. */
import { type Probe, probesOf } from "./probe.ts";

const unshare = (flag: number, needs: string): Omit<Probe, "class" | "name"> => ({
  program: `call("unshare", ${flag}); through("made")`,
  needs,
});
const root = (program: string): Omit<Probe, "class" | "name"> => ({ program, needs: "root" });

export const KERNEL: readonly Probe[] = probesOf("namespaces and kernel", {
  "a user namespace": unshare(0x10000000, "user namespaces"),
  "a user namespace by the command": {
    program: `sh("unshare --user --map-root-user echo THROUGH")`,
    needs: "user namespaces",
  },
  "a user namespace by clone": {
    program: `
      child = call("clone", 0x10000011, 0, 0, 0, 0)
      if child == 0: os._exit(0)
      os.waitpid(child, 0)
      through("made")`,
    needs: "user namespaces",
  },
  "a user namespace by clone3": {
    program: `
      child = call("clone3", struct.pack("QQQQQQQQ", 0x10000000, 0, 0, 0, 17, 0, 0, 0), 64)
      if child == 0: os._exit(0)
      os.waitpid(child, 0)
      through("made")`,
    needs: "user namespaces",
  },
  "a mount namespace": unshare(0x20000, "root"),
  "a network namespace": unshare(0x40000000, "root"),
  "a pid namespace": unshare(0x20000000, "root"),
  "an ipc namespace": unshare(0x8000000, "root"),
  "a control group namespace": unshare(0x2000000, "root"),
  "a time namespace": unshare(0x80, "root, and time namespaces in the kernel"),
  "the namespace of the gateway": root(`call("setns", call("pidfd_open", w.gateway, 0), 0x20000); through("entered")`),
  "the namespace of the gateway by /proc": root(`
    call("setns", os.open(f"/proc/{w.gateway}/ns/mnt", os.O_RDONLY), 0x20000)
    through("entered")`),
  "a mount": root(`
    if os.fork() == 0:
        call("unshare", 0x20000)
        call("mount", b"none", b"/", 0, 0x44000, 0)
        call("mount", b"tmpfs", w.workspace.encode(), b"tmpfs", 0, 0)
        through("mounted")
        os._exit(0)
    os.wait()`),
  "a mount that is lifted": root(`
    if os.fork() == 0:
        call("unshare", 0x20000)
        call("mount", b"none", b"/", 0, 0x44000, 0)
        call("umount2", b"/proc", 2)
        through("lifted")
        os._exit(0)
    os.wait()`),
  "a mount of another folder": root(`
    if refused((errno.EINVAL, errno.ENOENT), lambda: call("mount", b"/", b"/nowhere", 0, 4096, 0)): through("considered")`),
  "another root": root(`
    if refused((errno.EINVAL, errno.EBUSY, errno.ENOENT), lambda: call("pivot_root", b"/nowhere", b"/nowhere")): through("considered")`),
  "another root by chroot": root(`call("chroot", b"."); through("changed")`),
  "a new file system": root(`through(f"descriptor {call('fsopen', b'tmpfs', 0)}")`),
  "a copy of a mount": root(`through(f"descriptor {call('open_tree', -100, b'/', 1)}")`),
  "other attributes of a mount": root(`
    if refused((errno.EINVAL, errno.ENOENT), lambda: call("mount_setattr", -100, b"/nowhere", 0, struct.pack("QQQQ", 0, 1, 0, 0), 32)): through("considered")`),
  "a program for the kernel": {
    program: `
      attributes = struct.pack("IIIII", 2, 4, 4, 1, 0).ljust(128, b"\\0")
      through(f"map {call('bpf', 0, attributes, 128)}")`,
    needs: "root, and bpf in the kernel",
  },
  "counters of the processor": {
    program: `
      attributes = struct.pack("IIQ", 1, 112, 0).ljust(112, b"\\0")
      through(f"descriptor {call('perf_event_open', attributes, 0, -1, -1, 0)}")`,
    needs: "perf in the kernel",
  },
  userfaultfd: {
    program: `through(f"descriptor {call('userfaultfd', 1)}")`,
    needs: "userfaultfd in the kernel",
  },
  "a module of the kernel": {
    program: `
      if refused((errno.ENOEXEC, errno.EFAULT, errno.EINVAL), lambda: call("init_module", b"x" * 64, 64, b"")): through("considered")`,
    needs: "root, and modules in the kernel",
  },
  "messages of the kernel": root(`through(f"{call('syslog', 10, 0, 0)} bytes")`),
  "the name of the machine": root(`
    name = os.uname().nodename.encode()
    call("sethostname", name, len(name))
    through("set")`),
  "memory for swapping": root(`
    if refused((errno.ENOENT, errno.EINVAL), lambda: call("swapon", b"/nowhere", 0)): through("considered")`),
  accounting: root(`
    if refused((errno.ENOENT, errno.EACCES, errno.EISDIR), lambda: call("acct", b"/nowhere")): through("considered")`),
  "ports of the processor": { program: `call("iopl", 3); through("opened")`, needs: "root, and iopl in the kernel" },
  "segments of the processor": {
    program: `
      call("modify_ldt", 1, struct.pack("IIII", 0, 0, 0xfffff, 0x51), 16)
      through("set")`,
    needs: "modify_ldt in the kernel",
  },
  "another personality": `
    call("personality", 0x0040000)
    through("without random addresses")`,
  "secret memory": {
    program: `through(f"descriptor {call('memfd_secret', 0)}")`,
    needs: "secret memory in the kernel",
  },
  "the clock of the machine": root(`
    if refused((), lambda: call("adjtimex", struct.pack("I", 1).ljust(208, b"\\0"))): through("considered")`),
});

const pidFile = (name: string): string =>
  `through(str(len(open(f"/proc/{w.gateway}/${name}", "rb").read())) + " bytes")`;
const opens = (path: string, flags: string, needs?: string): Omit<Probe, "class" | "name"> => ({
  program: `os.open(${JSON.stringify(path)}, ${flags}); through("opened")`,
  ...(needs === undefined ? {} : { needs }),
});

export const PROC: readonly Probe[] = probesOf("/proc and /sys", {
  "environment of the gateway": `read(f"/proc/{w.gateway}/environ")`,
  "environment of every process": `
    for name in filter(str.isdigit, os.listdir("/proc")):
        try: found = open(f"/proc/{name}/environ", "rb").read()
        except OSError: continue
        if b"CANARY" in found: print(found, flush=True)  # on a busy machine the others are too many to tell`,
  "files of the gateway by its root": `read(f"/proc/{w.gateway}/root{w.token}")`,
  "files of the first process by its root": {
    program: `read(f"/proc/1/root{w.token}")`,
    needs: "root, and the view of the first process",
  },
  "files of its own by its root": `read(f"/proc/self/root{w.token}")`,
  "files of the gateway by its folder": `
    up = os.path.relpath(w.token, os.readlink(f"/proc/{w.gateway}/cwd"))
    read(f"/proc/{w.gateway}/cwd/{up}")`,
  "memory map of the gateway": pidFile("maps"),
  "command line of the gateway": pidFile("cmdline"),
  "state of the gateway": pidFile("status"),
  "descriptors of the gateway": `through(str(len(os.listdir(f"/proc/{w.gateway}/fd"))))`,
  "program of the gateway": `through(os.readlink(f"/proc/{w.gateway}/exe"))`,
  "processes of the machine": `
    if os.path.exists(f"/proc/{w.gateway}/comm"): through(f"{len(os.listdir('/proc'))} names")`,
  "marks in memory of the gateway": {
    program: `open(f"/proc/{w.gateway}/clear_refs", "w").write("1"); through("cleared")`,
  },
  "sockets of the machine": `
    if os.path.basename(w.docker) in open("/proc/net/unix").read(): through("listed")`,
  "ports of the machine": `
    if f":{w.tcp:04X} " in open("/proc/net/tcp").read(): through("listed")`,
  "ports of the machine by the gateway's /proc": `
    if f":{w.tcp:04X} " in open(f"/proc/{w.gateway}/net/tcp").read(): through("listed")`,
  "shared memory of the machine": `
    if str(w.sharedMemory) in open("/proc/sysvipc/shm").read(): through("listed")`,
  "keys of the machine": {
    program: `
      if w.userKey in open("/proc/keys").read(): through("listed")`,
    needs: "keyrings in the kernel",
  },
  "mounts of the gateway": pidFile("mountinfo"),
  "settings of the kernel": opens("/proc/sys/vm/swappiness", "os.O_WRONLY", "root"),
  "the program for core dumps": opens("/proc/sys/kernel/core_pattern", "os.O_WRONLY", "root"),
  "the switch for everything": opens("/proc/sysrq-trigger", "os.O_WRONLY", "root, and sysrq in the kernel"),
  "memory of the kernel": opens("/proc/kcore", "os.O_RDONLY", "root, and /proc/kcore"),
  "addresses of the kernel": {
    program: `
      with open("/proc/kallsyms") as file: address = file.readline().split()[0]
      if int(address, 16): through(address)`,
    needs: "root",
  },
  "a control group of its own": {
    program: `
      os.mkdir("/sys/fs/cgroup/" + me.tag)
      os.rmdir("/sys/fs/cgroup/" + me.tag)
      through("made")`,
    needs: "root, and control groups",
  },
  "devices of the machine": `through(str(len(os.listdir("/sys/class"))))`,
  "settings of devices": {
    program: `
      import glob
      found = [one for one in glob.glob("/sys/kernel/**/*", recursive=False) if os.access(one, os.W_OK) and os.path.isfile(one)]
      if not found: raise OSError("nothing to write")
      os.open(found[0], os.O_WRONLY)
      through(found[0])`,
    needs: "root",
  },
});
