/** Programs behind the wall, on this machine's kernel. Tiers that it cannot build are skipped by name. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ConfinedRoom, confinedRoom } from "../testing/confined-run.ts";
import { LANDLOCK_TCP, landlockVersion } from "./launcher/landlock.ts";
import { openKernel } from "./launcher/libc.ts";
import { callTable } from "./launcher/syscalls.ts";
import { tempHome } from "../testing/temp-home.ts";

const TIERS = ["full", "basic"] as const;
const BUN = process.execPath;
const LANDLOCK_SIGNALS = 6;

const homes = [await tempHome(), await tempHome()];
const rooms = await Promise.all(TIERS.map((tier, index) => confinedRoom(homes[index]?.path ?? "", tier)));
afterAll(() => Promise.all(homes.map((home) => home[Symbol.asyncDispose]())));

/** What this kernel can do, asked without any of our code behind it, so that a wall that cannot be built here is not just skipped. */
const kernel = openKernel(callTable(process.arch)?.all ?? new Map());
const landlock = kernel === null ? 0 : landlockVersion(kernel);
const namespaces =
  process.platform === "linux" &&
  Bun.which("unshare") !== null &&
  Bun.spawnSync([
    "unshare",
    "--user",
    "--map-current-user",
    "--keep-caps",
    "--mount",
    "--pid",
    "--fork",
    "mount",
    "-t",
    "proc",
    "proc",
    "/proc",
  ]).exitCode === 0;

describe("a kernel", () => {
  test.skipIf(!namespaces)("with user namespaces has the full tier", () => expect(rooms[0]).not.toBeNull());
  test.skipIf(landlock < LANDLOCK_TCP)("with Landlock 4 has the basic tier", () => expect(rooms[1]).not.toBeNull());
});

describe.each(TIERS.map((tier, index) => [tier, rooms[index] ?? null] as const))("the %s tier", (tier, found) => {
  const room = found as ConfinedRoom;
  const confined = test.skipIf(found === null);
  const secret = (name: string): string => {
    const path = join(room.home, name);
    writeFileSync(path, "a secret", { mode: 0o600 });
    return path;
  };

  confined("lets a program write its own folders, and read the system's files", async () => {
    const { stdout, code } = await room.run(
      'echo mine > file && cat file && echo temp > "$TMPDIR/x" && head -c 4 /etc/passwd',
    );
    expect([stdout.split("\n")[0], code]).toEqual(["mine", 0]);
    expect(readFileSync(join(room.workspace, "file"), "utf8")).toBe("mine\n");
    expect(statSync(join(room.workspace, "file")).uid).toBe(statSync(room.home).uid);
  });

  confined.skipIf(navigator.hardwareConcurrency < 2)(
    "uses no more processors than it may, also against its wish",
    async () => {
      const limits = { processes: 64, memoryMb: 1_024, openFiles: 256, fileSizeMb: 16, cpus: 1 };
      const { stdout } = await room.run("nproc; taskset -c 0-1 nproc 2>/dev/null || echo refused", { limits });
      expect(stdout.split("\n").slice(0, 2)).toEqual(["1", "refused"]);
    },
  );

  confined(
    "keeps files of the state directory from it, also by a link, a handle of another process and a new name",
    async () => {
      const path = secret("token");
      symlinkSync(path, join(room.workspace, "link"));
      const tries = [
        `cat ${path}`,
        "cat link",
        `cat /proc/1/root${path}`,
        `cat /proc/${process.pid}/root${path}`,
        `ln ${path} hard && cat hard`,
        `mv ${path} moved && cat moved`,
        `ls ${room.home}/run`,
        `echo no > ${path}`,
      ];
      for (const one of tries) {
        const { stdout } = await room.run(`${one} 2>/dev/null`);
        expect([one, stdout.includes("secret"), stdout.includes("sandbox-")]).toEqual([one, false, false]);
      }
      expect(readFileSync(path, "utf8")).toBe("a secret");
    },
  );

  confined("gives it no capability, no new privileges and a filter, also under a gateway of root", async () => {
    const { stdout } = await room.run("cat /proc/self/status");
    const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, "m").exec(stdout)?.[1];
    expect(["CapEff", "CapPrm", "CapInh", "CapAmb"].map(field)).toEqual(Array(4).fill("0000000000000000"));
    expect([field("NoNewPrivs"), field("Seccomp")]).toEqual(["1", "2"]);
  });

  confined("runs Bun, and what that starts", async () => {
    const inner = `console.log(Bun.spawnSync([process.execPath, "-e", "console.log(6 * 7)"]).stdout.toString().trim())`;
    expect((await room.run([BUN, "-e", inner])).stdout).toBe("42\n");
  });

  confined("takes no settings and no code from the workspace before the wall is up", async () => {
    const stolen = secret("stolen");
    const code = `require("fs").writeFileSync(${JSON.stringify(stolen)}, "changed")`;
    writeFileSync(join(room.workspace, "evil.js"), code);
    writeFileSync(join(room.workspace, "bunfig.toml"), 'preload = ["./evil.js"]\n');
    writeFileSync(join(room.workspace, ".env"), "BUN_OPTIONS=--preload=./evil.js\n");
    await room.run("true");
    for (const name of ["evil.js", "bunfig.toml", ".env"]) rmSync(join(room.workspace, name));
    expect(readFileSync(stolen, "utf8")).toBe("a secret");
  });

  confined("closes descriptors that it was not told to keep, and keeps the others", async () => {
    const { stdout } = await room.run("for fd in /proc/self/fd/*; do echo ${fd##*/}; done");
    expect(
      stdout
        .trim()
        .split("\n")
        .filter((fd) => Number(fd) > 2).length,
    ).toBeLessThanOrEqual(1); // the listing's own
    const refused = await room.run("true", {}, { descriptors: [3] });
    expect([refused.code, refused.stderr]).toEqual([126, "sandbox: descriptor 3 is not an open socket\n"]);
  });

  confined("never runs the program when a folder of it is missing or has become a link", async () => {
    const elsewhere = join(room.home, "elsewhere");
    mkdirSync(elsewhere, { recursive: true });
    symlinkSync(elsewhere, join(room.home, `swapped-${tier}`));
    for (const folder of ["missing", `swapped-${tier}`]) {
      const { stdout, stderr, code } = await room.run("echo ran", { write: [room.workspace, join(room.home, folder)] });
      expect([stdout, code]).toEqual(["", 126]);
      expect(stderr).toStartWith("sandbox: ");
    }
  });

  confined("has no network where it is closed, and the machine's where it is open", async () => {
    await using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("reached") });
    const ask = `fetch("http://127.0.0.1:${server.port}").then(async (r) => console.log(await r.text()), () => console.log("closed"))`;
    expect((await room.run([BUN, "-e", ask])).stdout).toBe("closed\n");
    expect((await room.run([BUN, "-e", ask], { network: { kind: "open" } })).stdout).toBe("reached\n");
  });

  confined("refuses sockets of the machine's services", async () => {
    const path = join(room.workspace, "service");
    using _service = Bun.listen({ unix: path, socket: { data: () => undefined } });
    const ask = `Bun.connect({ unix: ${JSON.stringify(path)}, socket: { data() {} } }).then(() => console.log("reached"), () => console.log("closed"))`;
    expect((await room.run([BUN, "-e", ask], { network: { kind: "open" } })).stdout).toBe("closed\n");
  });

  confined("lets it signal what it has started, and nothing outside", async () => {
    const signalled = "sleep 30 & kill $! && echo own; kill -0 1 2>/dev/null && echo other";
    const { stdout } = await room.run(signalled);
    expect(stdout).toBe(landlock >= LANDLOCK_SIGNALS || tier === "full" ? "own\n" : stdout);
  });

  confined("carries the mark of its agent as a limit", async () => {
    const { stdout } = await room.run("grep 'file locks' /proc/self/limits", {}, { mark: "1234567890123456789" });
    expect(stdout).toContain("1234567890123456789");
  });
});

describe("the basic tier with ports", () => {
  const room = rooms[1] as ConfinedRoom;
  test.skipIf(!rooms[1])("lets a program connect to those and to no other", async () => {
    await using open = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("reached") });
    await using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("reached") });
    const ask = (port: number | undefined) =>
      `fetch("http://127.0.0.1:${port}").then(async (r) => console.log(await r.text()), () => console.log("closed"))`;
    const network = { kind: "closed", ports: [open.port ?? 0] } as const;
    expect((await room.run([BUN, "-e", ask(open.port)], { network })).stdout).toBe("reached\n");
    expect((await room.run([BUN, "-e", ask(other.port)], { network })).stdout).toBe("closed\n");
  });
});

describe("the full tier", () => {
  const room = rooms[0] as ConfinedRoom;
  const confined = test.skipIf(!rooms[0]);

  confined("ends everything a program has started when the program ends", async () => {
    const { stdout } = await room.run("setsid sleep 613 >/dev/null 2>&1 & echo $!");
    expect(Number(stdout)).toBeGreaterThan(1);
    const listed = Bun.spawnSync(["ps", "ax", "-o", "args"]).stdout.toString();
    expect(listed).not.toContain("sleep 613");
  });

  confined("shows nothing of the machine but what was granted", async () => {
    const { stdout } = await room.run("ls -A /root /home /var/lib /sys /mnt 2>/dev/null; ls /proc | grep -c '^[0-9]'");
    expect(Number(stdout.trim().split("\n").at(-1))).toBeLessThan(8);
    expect((await room.run("touch /x /usr/x /etc/x 2>/dev/null; ls -d /x /usr/x /etc/x 2>/dev/null")).stdout).toBe("");
    expect((await room.run("echo kept > /tmp/x && cat /tmp/x")).stdout).toBe("kept\n");
    expect((await room.run("cat /tmp/x 2>/dev/null")).stdout).toBe("");
  });
});
