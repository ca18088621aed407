/** Files of the state directory, of other people and of the owner: read, changed, watched, raced for. */
import { type Probe, probesOf } from "./probe.ts";

const READS = probesOf("files outside", {
  "read the operator's token": `read(w.token)`,
  "read the database": `read(w.database)`,
  "read the key of the audit log": `read(w.audit)`,
  "read the configuration": `read(w.config)`,
  "read the log": `read(w.log)`,
  "read a provider's key": `read(w.providerKey)`,
  "read another person's session": `read(w.session)`,
  "read another person's workspace": `read(w.otherWorkspace)`,
  "read another agent's temporary files": `read(w.otherTemp)`,
  "read a key of ssh": `read(w.sshKey)`,
  "read credentials of a cloud": `read(w.cloudKey)`,
  "read a file that everybody may read": `read(w.readable)`,
  "read by a shell": `sh("cat " + w.token)`,
  "read by Bun": `js(f"console.log(require('fs').readFileSync('{w.token}', 'utf8'))")`,
  "read by a way with dots": `read(w.workspace + "/" + os.path.relpath(w.token, w.workspace))`,
  "read by a symbolic link": `os.symlink(w.token, "s-" + me.tag); read("s-" + me.tag)`,
  "read by a link to the root": `os.symlink("/", "r-" + me.tag); read("r-" + me.tag + w.token)`,
  "read by a hard link": `os.link(w.token, "h-" + me.tag); read("h-" + me.tag)`,
  "read by a new name": `
    os.rename(os.path.join(me.outside, "target"), "n-" + me.tag)
    through("taken")`,
  "read by a descriptor that is only a path": `
    fd = os.open(w.token, os.O_PATH)
    read(f"/proc/self/fd/{fd}")`,
  "read by its folder's descriptor": `
    folder = os.open(os.path.dirname(w.token), os.O_PATH)
    print(os.pread(os.open("token", os.O_RDONLY, dir_fd=folder), 100, 0))`,
  "read by a change of folder": `os.chdir(os.path.dirname(w.token)); read("token")`,
  "read by a handle": {
    program: `
      handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0).ljust(136, b"\\0"), 136)
      mount = ctypes.c_int()
      call("name_to_handle_at", -100, w.token.encode(), handle, ctypes.byref(mount), 0)
      base = os.open("/", os.O_RDONLY)
      fd = call("open_by_handle_at", os.open(os.path.dirname(w.workspace), os.O_RDONLY), handle, os.O_RDONLY)
      print(os.pread(fd, 100, 0))`,
    needs: "root, and a file system with handles",
  },
  "read by openat2": `
    fd = call("openat2", -100, w.token.encode(), struct.pack("QQQ", 0, 0, 0), 24)
    print(os.pread(fd, 100, 0))`,
  "run as a script": `sh(". " + w.token)`,
  "run a program of the owner": `sh(w.script)`,
  "map into memory": `
    fd = os.open(w.token, os.O_RDONLY)
    print(mmap.mmap(fd, 0, prot=mmap.PROT_READ)[:64])`,
  "list a folder": `print(os.listdir(os.path.dirname(w.sshKey))); through("listed")`,
  "list the folder of another person": `print(os.listdir(os.path.dirname(w.session))); through("listed")`,
  "look at size and time": `through(str(os.stat(w.token).st_size))`,
  "look whether a file is there": `
    if os.access(w.sshKey, os.F_OK): through("it is")`,
  "where a link leads": `through(os.readlink(f"/proc/{w.gateway}/cwd"))`,
  "watch a folder": `
    fd = call("inotify_init1", 0)
    call("inotify_add_watch", fd, os.path.dirname(w.session).encode(), 0x3f6)
    through("watched")`,
  "watch a whole file system": {
    program: `through(f"descriptor {call('fanotify_init', 0, 0)}")`,
    needs: "fanotify in the kernel",
  },
  "passwords of the system": {
    program: `
      with open("/etc/shadow") as file: through(f"{len(file.read())} characters")`,
    needs: "root",
  },
  "keys of the system's ssh": {
    program: `through(str(len(os.listdir("/etc/ssh"))))`,
    needs: "an /etc/ssh",
  },
  "names in the home folder of root": {
    program: `through(str(len(os.listdir(os.path.expanduser("~root")))))`,
    needs: "root",
  },
});

const WRITES = probesOf("files outside", {
  overwrite: `open(me.target, "w").write("changed")`,
  append: `open(me.target, "a").write("changed")`,
  "overwrite by a shell": `sh("echo changed > " + me.target)`,
  "overwrite by a symbolic link": `os.symlink(me.target, "w-" + me.tag); open("w-" + me.tag, "w").write("changed")`,
  "truncate by its path": `os.truncate(me.target, 0)`,
  delete: `os.unlink(me.target)`,
  "make a file": `open(me.outside + "/new", "w").close()`,
  "make a folder": `os.mkdir(me.outside + "/new")`,
  "make a link": `os.symlink("/", me.outside + "/new")`,
  "make a pipe": `os.mkfifo(me.outside + "/new")`,
  "link a file of its own there": `open(me.tag + "-l", "w").close(); os.link(me.tag + "-l", me.outside + "/new")`,
  "link one of them to itself": `os.link(me.target, "k-" + me.tag)`,
  "move a file of its own there": `open(me.tag + "-m", "w").close(); os.rename(me.tag + "-m", me.outside + "/new")`,
  "exchange it with one of its own": `
    open(me.tag + "-x", "w").close()
    call("renameat2", -100, (w.workspace + "/" + me.tag + "-x").encode(), -100, me.target.encode(), 2)`,
  "a file without a name, linked there": `
    fd = os.open(".", os.O_TMPFILE | os.O_WRONLY, 0o600)
    call("linkat", -100, f"/proc/self/fd/{fd}".encode(), -100, (me.outside + "/new").encode(), 0x400)`,
  "rename its folder": `os.rename(me.outside, me.outside + "-moved")`,
  "rename within its folder": `os.rename(me.target, me.outside + "/renamed")`,
  "change its mode": `os.chmod(me.target, 0o666)`,
  "change the mode of its folder": `os.chmod(me.outside, 0o777)`,
  "change its owner": { program: `os.chown(me.target, 64321, 64321)`, needs: "root" },
  "change its group": { program: `os.chown(me.target, -1, 4)`, needs: "root" },
  "change its time": `os.utime(me.target, (1, 1))`,
  "change its marks": {
    program: `os.setxattr(me.target, "user.probe", b"x")`,
    needs: "a file system with marks",
  },
  "a name for others in /tmp": `
    path = "/tmp/escape-" + me.tag
    open(path, "w").close()
    os.link(path, me.outside + "/new") if os.stat("/tmp").st_dev == os.stat(me.outside).st_dev else os.symlink(path, me.outside + "/new")
    os.unlink(path)`,
  "a job of the system": {
    program: `
      folder = [one for one in ("/etc/cron.d", "/var/spool/cron", "/etc") if os.path.isdir(one)][0]
      open(folder + "/" + me.tag, "w").close()
      os.unlink(folder + "/" + me.tag)
      through(folder)`,
    needs: "root",
  },
  "a program of the system": {
    program: `
      open("/usr/bin/" + me.tag, "w").close()
      os.unlink("/usr/bin/" + me.tag)
      through("made")`,
    needs: "root",
  },
  "the launcher of the wall": {
    program: `
      os.close(os.open(w.launcher, os.O_RDWR))
      through("opened for writing")`,
    needs: "a launcher that belongs to the user",
  },
});

/** Each side has a thousand rounds at least. */
const RACES = probesOf("files outside", {
  "race of a symbolic link against its reader": `
    path, mine = "race-" + me.tag, "mine-" + me.tag
    open(mine, "w").write("mine")
    def swap():
        for to in (mine, w.token):
            os.symlink(to, path + "-new")
            os.rename(path + "-new", path)
    def look():
        with open(path) as file: text = file.read()
        if text != "mine": print(text); return True
    race(swap, look)`,
  "race of a symbolic link against its writer": `
    path, mine = "race-" + me.tag, "mine-" + me.tag
    open(mine, "w").write("mine")
    def swap():
        for to in (mine, me.target):
            os.symlink(to, path + "-new")
            os.rename(path + "-new", path)
    def change():
        with open(path, "w") as file: file.write("changed")
    race(swap, change)`,
  "race of a folder against a link to a folder": `
    base = "race-" + me.tag
    os.mkdir(base + "-a")
    open(base + "-a/token", "w").write("mine")
    os.symlink(os.path.dirname(w.token), base + "-b")
    def swap():
        for to in ("-a", "-b"):
            os.symlink(base + to, base + "-new")
            os.rename(base + "-new", base)
    def look():
        with open(base + "/token") as file: text = file.read()
        if text != "mine": print(text); return True
    race(swap, look)`,
  "race of a rename against the way up": `
    base = os.path.join(w.workspace, "up-" + me.tag)
    os.makedirs(base + "/a/b/c")
    up = os.path.relpath(os.path.dirname(w.token), base + "/a/b/c")
    def move():
        os.rename(base + "/a/b/c", base + "/c")
        os.rename(base + "/c", base + "/a/b/c")
    def look():
        fd = os.open(base + "/a/b/c", os.O_RDONLY)
        try: print(os.pread(os.open(up + "/token", os.O_RDONLY, dir_fd=fd), 100, 0)); return True
        finally: os.close(fd)
    race(move, look)`,
  "race of a hard link": `
    open("own-" + me.tag, "w").close()
    def swap():
        os.link("own-" + me.tag, "hl-" + me.tag)
        os.unlink("hl-" + me.tag)
    def look():
        os.link(w.token, "hl-" + me.tag)
        read("hl-" + me.tag)
        return True
    race(swap, look)`,
  "race of an exchange against a writer": `
    a, b = "xa-" + me.tag, "xb-" + me.tag
    open(a, "w").write("mine")
    os.symlink(me.target, b)
    def change():
        with open(a, "w") as file: file.write("changed")
    race(lambda: call("renameat2", -100, a.encode(), -100, b.encode(), 2), change)`,
});

export const FILES: readonly Probe[] = [...READS, ...WRITES, ...RACES];
