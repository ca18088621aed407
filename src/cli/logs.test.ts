import { describe, expect, test } from "bun:test";
import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { cliFixture } from "../testing/cli-fixture.ts";

const line = (msg: string, level = "info") =>
  `${JSON.stringify({ level, time: "2026-01-31T10:00:00.000Z", msg, n: 1 })}\n`;

async function logFolder(home: string): Promise<string> {
  const folder = join(home, "logs");
  await mkdir(folder);
  await Bun.write(join(folder, "gateway-2026-01-30.1.log"), line("a") + line("b", "warn"));
  await Bun.write(join(folder, "gateway-2026-01-31.2.log"), line("d", "error") + line("e"));
  await Bun.write(join(folder, "gateway-2026-01-31.1.log"), line("c", "debug"));
  return folder;
}

describe("logs", () => {
  test("shows the newest lines of all files in order, readable", async () => {
    await using fx = await cliFixture();
    await logFolder(fx.home);
    expect(await fx.run("logs", "-n", "4")).toBe(0);
    expect(fx.out()).toBe(
      [
        "2026-01-31T10:00:00.000Z warn  b n=1",
        "2026-01-31T10:00:00.000Z debug c n=1",
        "2026-01-31T10:00:00.000Z error d n=1",
        "2026-01-31T10:00:00.000Z info  e n=1",
        "",
      ].join("\n"),
    );
  });

  test("shows only the level asked for and above, as JSON when asked", async () => {
    await using fx = await cliFixture();
    await logFolder(fx.home);
    await fx.run("logs", "--level", "warn", "--json");
    expect(fx.out()).toBe(line("b", "warn") + line("d", "error"));
  });

  test("shows only lines of the module asked for", async () => {
    await using fx = await cliFixture();
    const ofTools = `${JSON.stringify({ level: "info", time: "2026-01-31T10:00:00.000Z", msg: "of tools", module: "tools" })}\n`;
    await appendFile(join(await logFolder(fx.home), "gateway-2026-01-31.2.log"), ofTools);
    await fx.run("logs", "--module", "tools", "--json");
    expect(fx.out()).toBe(ofTools);
  });

  test("says what to do when there are none", async () => {
    await using fx = await cliFixture();
    expect(await fx.run("logs")).toBe(1);
    expect(fx.err()).toContain("There are no log files");
  });

  test("refuses a level that does not exist and names those that do", async () => {
    await using fx = await cliFixture();
    expect(await fx.run("logs", "--level", "loud")).toBe(1);
    expect(fx.err()).toContain("debug, info, warn, error");
  });

  test("followed, goes on with new lines across a rotation, whole lines only, until Ctrl-C", async () => {
    await using fx = await cliFixture();
    const folder = await logFolder(fx.home);
    const running = fx.run("logs", "-f", "-n", "1", "--json");
    await fx.printed('"e"');
    const whole = line("f");
    await appendFile(join(folder, "gateway-2026-01-31.2.log"), whole.slice(0, 20));
    await appendFile(join(folder, "gateway-2026-01-31.2.log"), whole.slice(20));
    await fx.printed('"f"');
    await appendFile(join(folder, "gateway-2026-01-31.2.log"), line("last of the day"));
    await Bun.write(join(folder, "gateway-2026-02-01.1.log"), line("first of the next"));
    await fx.printed("first of the next");
    fx.interrupt();
    expect(await running).toBe(0);
    expect(fx.out()).toBe([line("e"), whole, line("last of the day"), line("first of the next")].join(""));
  });
});
