/** A disk that fails under a running gateway: nothing is acknowledged after it, the process ends with its own code, and the next one goes on. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { eventually, post, problemOf, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const EX_IOERR = 74;
const config = { agent: { pool: { min: 0, max: 1 } } };

/** Ways in which the system itself reports an error to SQLite; each needs a tool and the right to use it. */
const FAULTS = [
  {
    name: "rejects a write (needs prlimit)",
    works: spawnSync("prlimit", ["--version"]).status === 0,
    async begin(gateway: GatewayProcess): Promise<AsyncDisposable> {
      const { size } = statSync(join(gateway.home, "gateway.db-wal"));
      const { status } = spawnSync("prlimit", ["--pid", String(gateway.pid), `--fsize=${size}`]);
      if (status !== 0) throw new Error("prlimit did not set the limit");
      return { [Symbol.asyncDispose]: async () => undefined };
    },
  },
  {
    name: "fails one fsync (needs strace)",
    works: spawnSync("strace", ["-qq", "-e", "trace=none", "true"]).status === 0,
    begin: failOneSync,
  },
];

/** The first fsync fails and all others succeed, as the system does it: it reports an error once and takes the pages for written. */
async function failOneSync(gateway: GatewayProcess): Promise<AsyncDisposable> {
  const syncs = ["-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:error=EIO:when=1"];
  const tracer = Bun.spawn(["strace", "-f", "-o", "/dev/null", "-p", String(gateway.pid), ...syncs], {
    stderr: "pipe",
  });
  const reader = tracer.stderr.getReader();
  const { value } = await reader.read(); // its first words: it is attached
  if (!new TextDecoder().decode(value).includes("attached")) throw new Error("strace did not attach");
  return {
    async [Symbol.asyncDispose]() {
      tracer.kill("SIGINT");
      await tracer.exited;
    },
  };
}

for (const { name, works, begin } of FAULTS)
  test.skipIf(!works)(`a gateway whose disk ${name} ends with 74 and acknowledges nothing more`, async () => {
    await using home = await tempHome();
    await using gateway = await startGatewayProcess({ home: home.path, config });
    expect((await gateway.chat("/status", { session: "disk" })).status).toBe(200);
    await using _fault = await begin(gateway);
    const refused = await post(gateway, { text: "lost?", session: "disk" });
    const { status, code } = await problemOf(refused);
    expect(status).toBe(503);
    expect(["store_failed", "stopping"]).toContain(code); // a late note about the first answer may have met the fault before it
    const later = await post(gateway, { text: "and this?", session: "disk" }).then(
      ({ status }) => status,
      () => "no connection", // it has ended already
    );
    expect([503, "no connection"]).toContain(later);
    expect(await gateway.exited).toBe(EX_IOERR);
    // not folded into the database by a process that cannot know whether it is what was written
    expect(existsSync(join(home.path, "gateway.db-wal"))).toBe(true);

    await using next = await startGatewayProcess({ home: home.path, config });
    await eventually(
      "the next gateway is ready",
      async () => (await next.fetch("/ready")).status,
      (status) => status === 200,
    );
    expect((await next.chat("/status", { session: "disk" })).status).toBe(200);
    const said = (await transcript(next, "disk")).filter(({ role }) => role === "user").map(({ text }) => text);
    expect(said).not.toContain("and this?");
    expect(said[0]).toBe("/status");
  });
