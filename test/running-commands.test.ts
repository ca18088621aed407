/** Commands about a gateway that runs, against a real one: a sign-in link, the console in a browser, a restart and a stop. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { SMALL_POOL, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const MAIN = resolve(import.meta.dir, "../dist/main.js");

let temp: TempHome;
let gateway: GatewayProcess;
beforeAll(async () => {
  temp = await tempHome();
  gateway = await startGatewayProcess({
    config: { agent: { pool: SMALL_POOL }, gateway: { commands: { restart: true } } },
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await temp?.[Symbol.asyncDispose]();
});

async function command(path: string, ...argv: readonly string[]) {
  const child = Bun.spawn([process.execPath, "--no-env-file", MAIN, ...argv, "--home", gateway.home], {
    cwd: temp.path,
    env: { PATH: path, HOME: temp.path },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, err };
}

const signInWith = (link: string) =>
  fetch(`${gateway.url}/api/sign-in`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-pi-gateway": "1" },
    body: JSON.stringify({ code: new URL(link.trim()).hash.slice("#code=".length) }),
  });

test("a sign-in link signs a browser in once", async () => {
  const { code, out } = await command("", "sign-in-link");
  expect({ code, begins: out.startsWith(`${gateway.url}/#code=`) }).toEqual({ code: 0, begins: true });
  expect((await signInWith(out)).status).toBe(204);
  expect((await signInWith(out)).status).toBe(401);
});

test("opening the console hands a sign-in link to the browser, and prints it where there is none", async () => {
  const programs = join(temp.path, "programs");
  await mkdir(programs);
  await writeFile(join(programs, "xdg-open"), `#!/bin/sh\necho "$1" > ${join(temp.path, "opened")}\n`);
  await chmod(join(programs, "xdg-open"), 0o755);
  if (process.platform === "linux") {
    expect(await command(programs, "open")).toEqual({ code: 0, out: "", err: "" });
    expect((await signInWith(await readFile(join(temp.path, "opened"), "utf8"))).status).toBe(204);
  }
  const without = await command(join(temp.path, "nothing"), "open");
  expect(without).toMatchObject({ code: 1, err: expect.stringContaining("No browser could be opened") });
  expect((await signInWith(without.out)).status).toBe(204);
});

test("a new token counts at once: the old one is refused, and a browser that had signed in is signed out", async () => {
  const link = await command("", "sign-in-link");
  const cookie = (await signInWith(link.out)).headers.get("set-cookie")?.split(";")[0] ?? "";
  const before = (await readFile(join(gateway.home, "token"), "utf8")).trim();
  const statusBy = async (headers: Record<string, string>) =>
    (await fetch(`${gateway.url}/api/status`, { headers })).status;
  expect([await statusBy({ cookie }), await statusBy({ authorization: `Bearer ${before}` })]).toEqual([200, 200]);
  const { code, out } = await command("", "token", "rotate");
  expect({ code, says: out.includes("signed out") }).toEqual({ code: 0, says: true });
  const after = (await readFile(join(gateway.home, "token"), "utf8")).trim();
  expect([after === before, out.includes(after)]).toEqual([false, false]);
  expect(await statusBy({ authorization: `Bearer ${before}` })).toBe(401);
  expect(await statusBy({ cookie })).toBe(401);
  expect(await statusBy({ authorization: `Bearer ${after}` })).toBe(200);
  expect(await command("", "audit", "list", "--kind", "token.rotated")).toMatchObject({
    code: 0,
    out: expect.stringMatching(/token\.rotated +operator /),
  });
});

test("a restart comes back on the same port, and a stop ends the process in good order", async () => {
  const restarted = await command("", "restart", "--json");
  expect(JSON.parse(restarted.out)).toEqual({ restarted: true, url: gateway.url });
  expect((await gateway.fetch("/health")).status).toBe(200);
  expect(await command("", "stop")).toMatchObject({ code: 0, out: "The gateway has stopped.\n" });
  expect(await gateway.exited).toBe(0);
  expect(await command("", "stop")).toMatchObject({ code: 1, err: expect.stringContaining("No gateway is running") });
});
