/** `pi-gw` as a person runs it, from the bundle, against a real gateway with real pi and the demo model. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { endpoint, eventually, SMALL_POOL, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const MAIN = resolve(import.meta.dir, "..", "dist", "main.js");

let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = await startGatewayProcess({ config: { agent: { pool: SMALL_POOL, tools: "full" } } });
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function piGw(home: string, args: readonly string[], input = ""): Promise<Ran> {
  const { PATH, BUN_RUNTIME_TRANSPILER_CACHE_PATH: cache } = process.env;
  const child = Bun.spawn([process.execPath, "--no-env-file", MAIN, ...args], {
    cwd: home,
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
    env: {
      PATH: PATH ?? "",
      HOME: home,
      PI_GATEWAY_HOME: home,
      ...(cache ? { BUN_RUNTIME_TRANSPILER_CACHE_PATH: cache } : {}),
    },
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, out, err };
}

test("doctor and config get tell the truth about a gateway that was started with variables this shell does not have", async () => {
  await using provider = await startFakeProvider(() => says("hello"));
  await using home = await tempHome();
  const { agent, models } = endpoint(provider, "fake-1", "${KEY_OF_THE_OTHER_SHELL}");
  const config = { agent, models, plugins: { enabled: ["missing"] }, gateway: { stopGraceMs: 1234 } };
  const env = { KEY_OF_THE_OTHER_SHELL: "a-key-for-tests-5521" };
  await using running = await startGatewayProcess({ home: home.path, config, env });
  const { code, out } = await piGw(home.path, ["doctor"]);
  expect(code).toBe(1); // the plugin
  expect(out).toMatch(/^ok +gateway +running at /m);
  expect(out).toMatch(/^ok +configuration .*pi-gateway\.jsonc is in force\.$/m);
  expect(out).toMatch(/^ok +model +fake\/fake-1 answers\.$/m);
  expect(out).toMatch(/^broken +plugin +missing: It is in plugins\.enabled/m);
  expect(out).toMatch(/^note +this shell .*KEY_OF_THE_OTHER_SHELL.*The running gateway does not have this problem\.$/m);
  expect(out.match(/^broken/gm)).toHaveLength(1);

  await writeFile(join(home.path, "pi-gateway.jsonc"), "{");
  expect(await piGw(home.path, ["config", "get", "gateway.stopGraceMs"])).toMatchObject({ code: 0, out: "1234\n" });
  expect((await running.fetch("/api/config/reload", { method: "POST" })).status).toBe(200);
  const later = await piGw(home.path, ["doctor"]);
  expect(later.out).toMatch(/^broken +configuration .*pi-gateway\.jsonc is not in force/m);
  expect(later.out).toMatch(/^broken +configuration .*pi-gateway\.jsonc:1:\d+ /m);
});

describe("pi-gw with a running gateway", () => {
  test("status says where it is, which model answers and that it is a demo", async () => {
    const { code, out, err } = await piGw(gateway.home, ["status"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(`at ${gateway.url}, up `);
    expect(out).toMatch(/^model {5}gwdemo\/demo \(demo/m);
    expect(out).toMatch(/^channels {2}webchat ok, api ok$/m);
    const { out: json } = await piGw(gateway.home, ["status", "--json"]);
    expect(JSON.parse(json)).toMatchObject({ url: gateway.url, pid: gateway.pid, pool: { max: 2 }, notices: [] });
  });

  test("chat prints the answer to one question and nothing else", async () => {
    const ran = await piGw(gateway.home, ["chat", "echo:", "one", "two", "--session", "one-shot"]);
    expect(ran).toEqual({ code: 0, out: "one two\n", err: "" });
    expect((await transcript(gateway, "one-shot")).map(({ text }) => text)).toEqual(["echo: one two", "one two"]);
  });

  test("chat reads one message per line from a pipe, in order", async () => {
    const ran = await piGw(gateway.home, ["chat", "--session", "piped"], "echo: first\necho: second\n");
    expect(ran).toEqual({ code: 0, out: "first\nsecond\n", err: "" });
  });

  test("chat says in a sentence why a message was not taken, and ends with 1", async () => {
    const { code, out, err } = await piGw(gateway.home, ["chat", "hello", "--session", "Not A Name"]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^`session` is .*\.\n$/);
  });

  test("logs shows what happened, without what was said", async () => {
    await piGw(gateway.home, ["chat", "echo: a private matter", "--session", "logged"]);
    const logs = () => piGw(gateway.home, ["logs", "-n", "1000"]);
    const { code, out } = await eventually("the end of the turn", logs, (shown) => shown.out.includes("turn ended")); // lines reach the file a moment later
    expect(code).toBe(0);
    expect(out).toContain("gateway ready");
    expect(out).not.toContain("private matter");
    expect(out).not.toContain(gateway.token);
  });

  test("doctor finds nothing wrong and leaves the gateway alone", async () => {
    const { code, out } = await piGw(gateway.home, ["doctor"]);
    expect(out).not.toMatch(/^broken/m);
    expect({ code, last: out.trim().split("\n").at(-1) }).toEqual({ code: 0, last: "All is well." });
    expect((await gateway.fetch("/ready")).status).toBe(200);
  });

  test("tools list shows the tools of pi and who may use each", async () => {
    const { code, out } = await piGw(gateway.home, ["tools", "list"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^TOOL +OF +FOR +FLAGS +WHAT IT DOES$/m);
    expect(out).toMatch(/^session_status +gateway +owner, member, guest {2}/m);
    expect(out).toMatch(/^bash +pi +(owner|nobody) +elevated, after approval {2}/m);
    expect(out).toMatch(/^read +pi +(owner|nobody) {2}/m);
  });

  test("never prints the token", async () => {
    const commands = [
      ["status", "--json"],
      ["config", "get"],
      ["config", "get", "--json"],
      ["doctor", "--json"],
    ];
    const printed = await Promise.all(commands.map((args) => piGw(gateway.home, args)));
    expect(printed.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(printed.filter(({ out, err }) => (out + err).includes(gateway.token))).toEqual([]);
  });
});

describe("pi-gw without a gateway", () => {
  test("doctor ends with 0 in a fresh folder, starts a real pi, and says that the demo model answers", async () => {
    await using home = await tempHome();
    await writeFile(join(home.path, "pi-gateway.jsonc"), '{ "gateway": { "port": 0 } }'); // the usual port may be somebody's
    const { code, out } = await piGw(home.path, ["doctor", "--json"]);
    const lines = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { check: string; state: string; say: string });
    expect(lines.filter(({ state }) => state === "broken")).toEqual([]);
    expect(code).toBe(0);
    expect(lines.find(({ check }) => check === "model")?.say).toContain("demo");
    expect(lines.map(({ check }) => check)).toEqual(expect.arrayContaining(["bun", "configuration", "pi", "model"]));
  });

  test("status and chat say that none is running, and end with 1", async () => {
    await using home = await tempHome();
    for (const args of [["status"], ["chat", "hello"]]) {
      const { code, out, err } = await piGw(home.path, args);
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toContain("No gateway is running on");
    }
  });

  test("config check names line, column and the nearest name of what is wrong, and ends with 78", async () => {
    await using home = await tempHome();
    const file = join(home.path, "pi-gateway.jsonc");
    await writeFile(file, '{\n  "gateway": { "prot": 1 },\n  "agent": { "timeoutMs": "soon" }\n}\n');
    const { code, out, err } = await piGw(home.path, ["config", "check"]);
    expect(code).toBe(78);
    expect(out + err).toMatch(/pi-gateway\.jsonc:2:\d+.*prot.*Did you mean .*port/);
    expect(out + err).toMatch(/pi-gateway\.jsonc:3:\d+.*timeoutMs/);
    await writeFile(file, '{ "gateway": { "port": 1 } }');
    expect((await piGw(home.path, ["config", "check"])).code).toBe(0);
  });

  test("a misspelt command gets the nearest one", async () => {
    await using home = await tempHome();
    const { code, err } = await piGw(home.path, ["statsu"]);
    expect(code).toBe(1);
    expect(err).toMatch(/statsu.*status/);
  });
});

test.each([
  ["whose reader has gone ends without a word", 'exec 3> >(exit 0); wait $!; "$@" >&3', { code: 0, err: "" }],
  [
    "that cannot be written says so in a sentence",
    '"$@" > /dev/full',
    { code: 1, err: expect.stringMatching(/^The output could not be written: .*\n$/) },
  ],
])("output %s", async (_, script, expected) => {
  const command = [process.execPath, "--no-env-file", MAIN, "--help"];
  const child = Bun.spawn(["bash", "-c", script, "bash", ...command], { stdout: "ignore", stderr: "pipe" });
  const err = await new Response(child.stderr).text();
  expect({ code: await child.exited, err }).toEqual(expected);
});
