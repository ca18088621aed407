/** Connections to the machine's own services, which stand for a provider, a name server and a cloud's metadata address; and serving. */
import { type Probe, probesOf } from "./probe.ts";

export const NETWORK: readonly Probe[] = probesOf("network", {
  "TCP to the metadata service": `talk(socket.socket(), ("127.0.0.1", w.tcp))`,
  "TCP to another loopback address": `talk(socket.socket(), ("0.0.0.0", w.tcp))`,
  "TCP by IPv6": {
    program: `talk(socket.socket(socket.AF_INET6), ("::1", w.tcp6))`,
    needs: "IPv6 on loopback",
  },
  "TCP by an IPv4 address in IPv6 form": {
    program: `talk(socket.socket(socket.AF_INET6), ("::ffff:127.0.0.1", w.tcp))`,
    needs: "IPv6",
  },
  "TCP from a chosen port": `
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    talk(s, ("127.0.0.1", w.tcp))`,
  "a name server by TCP": `talk(socket.socket(), ("127.0.0.1", w.dnsTcp))`,
  "a name server by UDP": `ask(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), ("127.0.0.1", w.dns))`,
  "a name server by UDP over IPv6": {
    program: `ask(socket.socket(socket.AF_INET6, socket.SOCK_DGRAM), ("::1", w.dns6))`,
    needs: "IPv6 on loopback",
  },
  "a connected UDP socket": `talk(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), ("127.0.0.1", w.dns))`,
  "UDP by sendmsg": `
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(0.5)
    s.sendmsg([me.tag.encode()], [], 0, ("127.0.0.1", w.dns))
    print(s.recv(200))`,
  curl: {
    program: `sh(f"curl -s -m 1 --http0.9 http://127.0.0.1:{w.tcp}/")`,
    needs: "curl",
  },
  "fetch of Bun": `js(f"fetch('http://127.0.0.1:{w.tcp}/').then(r => r.text()).then(console.log, e => console.log(e.code === 'Malformed_HTTP_Response' ? 'THROUGH ' + e.code : e.code))")`,
  "a socket of Bun": `js(f"Bun.connect({{hostname: '127.0.0.1', port: {w.tcp}, socket: {{open(s) {{ s.write('{me.tag}') }}, data(s, d) {{ console.log(d.toString()); process.exit() }}}}}}).catch(e => console.log(e.code))")`,
  "/dev/tcp of bash": `sh(f"exec 3<>/dev/tcp/127.0.0.1/{w.tcp} && printf {me.tag} >&3 && head -c 40 <&3", "/bin/bash")`,
  "/dev/udp of bash": `sh(f"printf {me.tag} > /dev/udp/127.0.0.1/{w.dns}", "/bin/bash"); time.sleep(0.1)`,
  "serving TCP to the machine": `
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen()
    serve(s)`,
  "serving TCP without a bind": `
    s = socket.socket()
    s.listen()
    serve(s)`,
  "serving TCP by IPv6": {
    program: `
      s = socket.socket(socket.AF_INET6)
      s.bind(("::1", 0))
      s.listen()
      serve(s)`,
    needs: "IPv6 on loopback",
  },
  "a raw socket": {
    program: `
      s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
      s.settimeout(1)
      s.sendto(struct.pack("!BBHHH", 8, 0, 0xf7fe, 1, 0), ("127.0.0.1", 0))
      through(f"{len(s.recv(200))} bytes back")`,
    needs: "root",
  },
  "an echo request without rights": {
    program: `
      s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
      s.settimeout(1)
      s.sendto(struct.pack("!BBHHH", 8, 0, 0, 1, 0), ("127.0.0.1", 0))
      through(f"{len(s.recv(200))} bytes back")`,
    needs: "net.ipv4.ping_group_range",
  },
});

export const AROUND: readonly Probe[] = probesOf("ways around the network rules", {
  "multipath TCP": {
    program: `talk(socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262), ("127.0.0.1", w.tcp))`,
    needs: "multipath TCP in the kernel",
  },
  "multipath TCP that serves": {
    program: `
      s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
      s.bind(("127.0.0.1", 0))
      s.listen()
      serve(s)`,
    needs: "multipath TCP in the kernel",
  },
  "connecting with the first bytes by sendto": `
    s = socket.socket()
    s.sendto(me.tag.encode(), 0x20000000, ("127.0.0.1", w.tcp))
    print(s.recv(200))`,
  "connecting with the first bytes by sendmsg": `
    s = socket.socket()
    s.sendmsg([me.tag.encode()], [], 0x20000000, ("127.0.0.1", w.tcp))
    print(s.recv(200))`,
  "connecting late, by a socket option": `
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, 30, 1)
    talk(s, ("127.0.0.1", w.tcp))`,
  "a connection that is split in two": `
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex(("127.0.0.1", w.tcp))
    select.select([], [s], [], 1)
    s.send(me.tag.encode())
    select.select([s], [], [], 1)
    print(s.recv(200))`,
  io_uring: {
    program: `
      params = ctypes.create_string_buffer(120)
      through(f"descriptor {call('io_uring_setup', 4, params)}")`,
    needs: "io_uring in the kernel",
  },
  "io_uring with a polling thread of the kernel": {
    program: `
      params = ctypes.create_string_buffer(struct.pack("IIIIIIIIII", 0, 0, 2, 0, 100, 0, 0, 0, 0, 0).ljust(120, b"\\0"), 120)
      through(f"descriptor {call('io_uring_setup', 4, params)}")`,
    needs: "io_uring in the kernel",
  },
  SCTP: {
    program: `socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132); through("a socket")`,
    needs: "SCTP in the kernel",
  },
  "UDP-Lite": {
    program: `socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136); through("a socket")`,
    needs: "UDP-Lite in the kernel",
  },
  SMC: {
    program: `socket.socket(43, socket.SOCK_STREAM, 0); through("a socket")`,
    needs: "SMC in the kernel",
  },
  "calls by the numbers of 32-bit programs": {
    program: String.raw`
      if not X64: impossible("no such numbers on this processor")
      page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
      page.write(bytes.fromhex("b814000000cd80c3"))  # getpid, 20 there
      code = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
      if code() == os.getpid(): through("getpid")`,
    needs: "32-bit calls in the kernel",
  },
  "calls by the numbers of x32": {
    program: String.raw`
      if not X64: impossible("no such numbers on this processor")
      if libc.syscall(ctypes.c_long(0x40000000 + 39)) == os.getpid(): through("getpid")`,
    needs: "x32 in the kernel",
  },
});
