/** Unix sockets of services, by path and by abstract name, and families of sockets that talk to the kernel. */
import { type Probe, probesOf } from "./probe.ts";

const unix = (kind: string, address: string): string =>
  `talk(socket.socket(socket.AF_UNIX, socket.${kind}), ${address})`;

export const SOCKETS: readonly Probe[] = probesOf("sockets of services", {
  "the docker socket": unix("SOCK_STREAM", "w.docker"),
  "the docker socket by curl": {
    program: `sh(f"curl -s -m 1 --http0.9 --unix-socket {w.docker} http://localhost/")`,
    needs: "curl",
  },
  "the docker socket by Bun": `js(f"Bun.connect({{unix: '{w.docker}', socket: {{open(s) {{ s.write('{me.tag}') }}, data(s, d) {{ console.log(d.toString()); process.exit() }}}}}}).catch(e => console.log(e.code))")`,
  "the docker socket by a link in the workspace": `
    os.symlink(w.docker, "link-" + me.tag)
    ${unix("SOCK_STREAM", `"link-" + me.tag`)}`,
  "the docker socket through /proc": unix("SOCK_STREAM", `f"/proc/{w.gateway}/root{w.docker}"`),
  "the agent of ssh": unix("SOCK_STREAM", "w.sshAgent"),
  "a bus by packets": unix("SOCK_SEQPACKET", "w.bus"),
  "a log by datagrams": `
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.sendto(me.tag.encode(), w.logSocket)
    time.sleep(0.1)`,
  "a service in its own workspace": unix("SOCK_STREAM", "w.inWorkspace"),
  "an abstract socket": unix("SOCK_STREAM", "w.abstract"),
  "an abstract socket by datagrams": `
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.bind("")
    ask(s, w.abstractDatagram)`,
  "an abstract socket of its own, for others to find": `
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.bind("\\0mine-" + me.tag)
    s.listen()
    through("listening")`,
  "a socket file of its own, for others to find": `
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.bind("mine-" + me.tag[-6:])
    s.listen()
    through("listening")`,
  "a datagram pair that is sent elsewhere": `
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    a.sendto(me.tag.encode(), w.logSocket)
    time.sleep(0.1)`,
  "netlink: routes": `
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.send(struct.pack("IHHIIB3x", 20, 18, 0x301, 1, 0, 0))
    through(f"{len(s.recv(4096))} bytes of devices")`,
  "netlink: events of the kernel": `
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 15)
    s.bind((0, 1))
    through("listening")`,
  "packets of every device": {
    program: `socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)); through("a socket")`,
    needs: "root",
  },
  "the virtual machine's host": {
    program: `socket.socket(40, socket.SOCK_STREAM, 0); through("a socket")`,
    needs: "vsock in the kernel",
  },
  "the kernel's ciphers": {
    program: `socket.socket(38, socket.SOCK_SEQPACKET, 0); through("a socket")`,
    needs: "AF_ALG in the kernel",
  },
  "keys of IPsec": {
    program: `socket.socket(15, socket.SOCK_RAW, 2); through("a socket")`,
    needs: "root, and AF_KEY in the kernel",
  },
  "a receiver of Bluetooth": {
    program: `socket.socket(31, socket.SOCK_RAW, 1); through("a socket")`,
    needs: "Bluetooth in the kernel",
  },
  XDP: {
    program: `socket.socket(44, socket.SOCK_RAW, 0); through("a socket")`,
    needs: "root, and XDP in the kernel",
  },
});
