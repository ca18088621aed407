/** Descriptors that were open at the start, capabilities, setuid programs and devices. */
import { type Probe, probesOf } from "./probe.ts";

const device = (path: string, needs: string): Omit<Probe, "class" | "name"> => ({
  program: `os.open(${JSON.stringify(path)}, os.O_RDWR); through("opened")`,
  needs,
});

export const RIGHTS: readonly Probe[] = probesOf("descriptors, rights and devices", {
  "a file that the gateway had open": `print(os.pread(w.inheritedFile, 100, 0))`,
  "a folder that the gateway had open": `
    fd = os.open(w.token.lstrip("/"), os.O_RDONLY, dir_fd=w.inheritedRoot)
    print(os.pread(fd, 100, 0))`,
  "a descriptor under a high number": `print(os.pread(w.inheritedHigh, 100, 0))`,
  "any capability": {
    program: `
      with open("/proc/self/status") as status:
          sets = [line.split()[1] for line in status if line.startswith(("CapEff", "CapPrm", "CapInh", "CapAmb"))]
      if any(int(one, 16) for one in sets): through(" ".join(sets))`,
    needs: "root",
  },
  "a capability in the bounding set": {
    program: `
      if any(libc.prctl(23, one, 0, 0, 0) == 1 for one in range(41)) and libc.prctl(39, 0, 0, 0, 0) == 0: through("may be gained")`,
  },
  "new rights by a program that is run": `
    if libc.prctl(39, 0, 0, 0, 0) == 0: through("no_new_privs is off")`,
  "a setuid program of another user": {
    program: `
      if sh(w.setuid + " -u").stdout.strip() == b"64321": through("became a stranger")`,
    needs: "root, who makes such a program",
  },
  "the setuid bit by chmod": `
    open(me.tag, "w").close()
    os.chmod(me.tag, 0o4755)
    if os.stat(me.tag).st_mode & 0o4000: through("set")`,
  "the setuid bit by fchmod": `
    fd = os.open(me.tag, os.O_CREAT | os.O_WRONLY, 0o700)
    os.fchmod(fd, 0o6755)
    if os.fstat(fd).st_mode & 0o6000: through("set")`,
  "the setuid bit by fchmodat2": {
    program: `
      open(me.tag, "w").close()
      call("fchmodat2", -100, me.tag.encode(), 0o4755, 0)
      if os.stat(me.tag).st_mode & 0o4000: through("set")`,
    needs: "Linux 6.6",
  },
  "the setuid bit at the making of a file": `
    os.umask(0)
    fd = os.open(me.tag, os.O_CREAT | os.O_WRONLY, 0o4755)
    if os.fstat(fd).st_mode & 0o4000: through("set")`,
  "capabilities of a file": {
    program: `
      open(me.tag, "w").close()
      os.setxattr(me.tag, "security.capability", struct.pack("<IIIII", 0x02000001, 0x3fffffff, 0, 0, 0))
      through("set")`,
    needs: "root, and a file system with such marks",
  },
  "another user's id": {
    program: `os.setresuid(64321, 64321, 64321); through("became a stranger")`,
    needs: "root",
  },
  "another group's id": {
    program: `os.setgroups([64321, 4]); through("joined groups")`,
    needs: "root",
  },
  "a device of its own": {
    program: `
      os.mknod(me.tag, 0o020600, os.makedev(1, 3))
      through("made")`,
    needs: "root",
  },
  "a disk of its own": {
    program: `
      os.mknod(me.tag, 0o060600, os.makedev(254, 0))
      through("made")`,
    needs: "root",
  },
  "the whole disk": {
    program: `
      import glob
      disks = [one for one in glob.glob("/dev/[vsn][dv]*") if os.access(one, os.R_OK)]
      if not disks: raise OSError("no disk")
      os.open(disks[0], os.O_RDONLY)
      through(disks[0])`,
    needs: "root, and a disk in /dev",
  },
  "the log of the kernel": {
    program: `os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK); through("opened")`,
    needs: "root",
  },
  "new terminals": device("/dev/ptmx", "a /dev/ptmx"),
  "new file systems by FUSE": device("/dev/fuse", "FUSE in the kernel"),
  "virtual machines": device("/dev/kvm", "root, and virtual machines inside of this one"),
  "network devices": device("/dev/net/tun", "root, and TUN in the kernel"),
  "userfaultfd by its device": { program: `os.open("/dev/userfaultfd", os.O_RDWR); through("opened")`, needs: "root" },
  "loop devices": device("/dev/loop-control", "root, and loop devices"),
  "a terminal of the console": device("/dev/tty1", "root, and a console"),
});
