/** Runs the gateway and starts it again whenever a source changes. A build that fails leaves the running gateway alone. */
import { watch } from "node:fs";
import { dirname, join } from "node:path";
import { ensureDist } from "./bundle.ts";

const SETTLE_MS = 150; // editors write several times per save
const STOP_GRACE_MS = 5_000;
const WATCHED = ["src", "bridge", "console"];

async function develop(root: string, args: readonly string[]): Promise<void> {
  let stopping = false;
  let gateway = await start();
  let timer: Timer | null = null;
  let queue = Promise.resolve();

  for (const folder of WATCHED) {
    watch(join(root, folder), { recursive: true }, (_event, file) => {
      if (file?.endsWith(".test.ts")) return;
      if (timer) clearTimeout(timer);
      timer = setTimeout(() => {
        queue = queue.then(restart);
      }, SETTLE_MS);
    });
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      void queue.then(() => stop()).then(() => process.exit(0));
    });
  }

  async function start(): Promise<Bun.Subprocess | null> {
    try {
      await ensureDist(root);
    } catch (error) {
      console.error(
        `The build failed; waiting for the next change.\n${error instanceof Error ? error.message : error}`,
      );
      return null;
    }
    return Bun.spawn(
      [process.execPath, "--no-env-file", "--no-orphans", join(root, "dist/main.js"), "start", ...args],
      {
        stdio: ["ignore", "inherit", "inherit"],
      },
    );
  }

  async function restart(): Promise<void> {
    if (stopping) return;
    try {
      if ((await ensureDist(root)) === "fresh") return;
    } catch (error) {
      console.error(
        `The build failed; the gateway runs on as it was.\n${error instanceof Error ? error.message : error}`,
      );
      return;
    }
    console.error("Sources changed; starting again …");
    await stop();
    gateway = await start();
  }

  async function stop(): Promise<void> {
    if (!gateway || gateway.exitCode !== null) return;
    const running = gateway;
    running.kill("SIGTERM");
    const kill = setTimeout(() => running.kill("SIGKILL"), STOP_GRACE_MS);
    await running.exited;
    clearTimeout(kill);
  }
}

if (import.meta.main) await develop(dirname(import.meta.dir), process.argv.slice(2));
