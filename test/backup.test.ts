/**
 * Backups of a gateway under load, made and restored by the command as a user runs it. Everything that was acknowledged before the backup began
 * is in the restored gateway, its audit log verifies, and its agents remember the conversations.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { deferred } from "../src/kit/deferred.ts";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { asked, endpoint, eventually, textOf, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const MAIN = resolve(import.meta.dir, "../dist/main.js");
const HELD = "please wait";
const PASSPHRASE = "a passphrase for tests";

let temp: TempHome;
let provider: FakeProvider;
let gateway: GatewayProcess;
const released = deferred<void>();

beforeAll(async () => {
  temp = await tempHome();
  provider = await startFakeProvider((request) =>
    asked(request).includes(HELD)
      ? { kind: "text", pieces: [released.promise, "it was worth the wait"] }
      : says(`re: ${asked(request)}`),
  );
  await writeFile(join(temp.path, "passphrase"), `${PASSPHRASE}\n`);
  const { agent, models } = endpoint(provider);
  const tools = { limits: { save_note: { calls: 100_000, perMs: "1s" } } };
  gateway = await startGatewayProcess({ config: { agent: { ...agent, pool: { min: 0, max: 2 } }, models, tools } });
});
afterAll(async () => {
  released.resolve();
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await temp?.[Symbol.asyncDispose]();
});

async function command(...argv: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const child = Bun.spawn([process.execPath, "--no-env-file", MAIN, ...argv], {
    cwd: temp.path,
    env: { PATH: process.env["PATH"] ?? "", HOME: temp.path },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, err };
}

/** What people and programs were told is stored. */
interface Acknowledged {
  readonly messages: string[];
  readonly calls: string[];
}

/** Two conversations and two programs that call a tool, each as fast as it is answered. */
function startLoad(signal: AbortSignal): { readonly acknowledged: Acknowledged; readonly done: Promise<unknown> } {
  const acknowledged: Acknowledged = { messages: [], calls: [] };
  const talk = async (session: string): Promise<void> => {
    for (let no = 0; !signal.aborted; no++) {
      const text = `${session} says ${no}`;
      const { status } = await gateway.chat(text, { session });
      if (status === 200) acknowledged.messages.push(text);
    }
  };
  const callTools = async (name: string): Promise<void> => {
    for (let no = 0; !signal.aborted; no++) {
      const callId = `${name}-${no}`;
      const body = { tool: "save_note", params: { title: callId, content: "x".repeat(2_000) }, callId };
      const response = await gateway.fetch("/api/tools/call", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const { ok } = (await response.json()) as { ok: boolean };
      if (ok) acknowledged.calls.push(callId);
    }
  };
  const done = Promise.all([talk("ann"), talk("bob"), callTools("note"), callTools("memo")]);
  return { acknowledged, done };
}

interface NoteCall {
  readonly status: string;
  readonly input: { readonly title?: string; readonly content?: string };
}

/** All calls that made notes, from the audit log. */
async function callsOf(of: GatewayProcess): Promise<readonly NoteCall[]> {
  const calls: NoteCall[] = [];
  for (let cursor = ""; ;) {
    const response = await of.fetch(`/api/tool-calls?tool=save_note&limit=200${cursor}`);
    const { items, next } = (await response.json()) as { items: NoteCall[]; next?: string };
    calls.push(...items);
    if (next === undefined) return calls;
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
}

/** Messages of a conversation that have no answer, or more than one. */
async function unpaired(of: GatewayProcess, session: string): Promise<readonly string[]> {
  const texts = (await transcript(of, session)).map(({ text }) => text);
  const said = texts.filter((text) => text.startsWith(`${session} says`));
  const count = (wanted: string) => texts.filter((text) => text === wanted).length;
  return said.filter((text) => count(text) !== 1 || count(`re: ${text}`) !== 1);
}

test("a backup under load holds every acknowledged message and call, verifies, and is restored elsewhere", async () => {
  const stopping = new AbortController();
  await gateway.chat("carol says 0", { session: "carol" });
  // from here on the session file of carol is with the process that answers her
  void gateway.chat(`carol: ${HELD}`, { session: "carol" }).catch(() => undefined);
  await eventually(
    "the held request",
    () => provider.requests.some((request) => asked(request).includes(HELD)),
    Boolean,
  );
  const { acknowledged, done } = startLoad(stopping.signal);
  await eventually(
    "some load",
    () => acknowledged,
    ({ messages, calls }) =>
      ["ann", "bob"].every((name) => messages.some((text) => text.startsWith(name))) && calls.length >= 50,
  );
  const before: Acknowledged = { messages: [...acknowledged.messages], calls: [...acknowledged.calls] };
  const folder = join(temp.path, "backups");
  const made = await command(
    ...["backup", "--home", gateway.home, "--folder", folder, "--json"],
    ...["--passphrase-file", join(temp.path, "passphrase")],
  );
  const during = acknowledged.calls.length - before.calls.length;
  stopping.abort();
  await done;
  expect(made).toMatchObject({ code: 0, err: "" });
  expect(during).toBeGreaterThan(0); // else nothing happened meanwhile
  const { file } = JSON.parse(made.out) as { file: string };

  const secretFile = ["--passphrase-file", join(temp.path, "passphrase")];
  const verified = await command("backup", "verify", file, ...secretFile, "--json");
  expect(JSON.parse(verified.out)).toMatchObject({ ok: true, gone: 0 }); // also the session that a process has
  const home = join(temp.path, "restored");
  const restored = await command("restore", file, "--home", home, ...secretFile, "--json");
  expect(restored).toMatchObject({ code: 0 });
  expect(await command("audit", "verify", "--home", home)).toMatchObject({ code: 0 });

  await using second = await startGatewayProcess({ home });
  const calls = await callsOf(second);
  const titles = calls.map(({ input }) => input.title ?? "");
  expect(before.calls.filter((id) => !titles.includes(id))).toEqual([]);
  // none half: a call that was running at that moment has an end, and what went in is whole
  expect(titles.length).toBe(new Set(titles).size);
  const half = calls.filter(({ status, input }) => status === "pending" || input.content?.length !== 2_000);
  expect(half).toEqual([]);
  const texts = (
    await Promise.all(
      ["ann", "bob"].map(async (session) => (await transcript(second, session)).map(({ text }) => text)),
    )
  ).flat();
  expect(before.messages.filter((text) => !texts.includes(text) || !texts.includes(`re: ${text}`))).toEqual([]);
  for (const session of ["ann", "bob"])
    await eventually(
      `one answer to each message of ${session}`,
      () => unpaired(second, session),
      (left) => left.length === 0,
    );
  // the turn that was running is taken up again, on the session file that a process had at that moment
  released.resolve();
  await eventually(
    "the reply to carol",
    async () => (await transcript(second, "carol")).map(({ text }) => text),
    (texts) => texts.includes("it was worth the wait"),
  );
  const { body } = await second.chat("do you remember?", { session: "carol" });
  expect(body.content).toBe("re: do you remember?");
  const said = provider.requests
    .at(-1)
    ?.messages.map(({ content }) => textOf(content))
    .join("\n");
  expect(said).toContain("carol says 0");
  expect(await second.stop()).toBe(0);
  expect(await command("audit", "verify", "--home", home)).toMatchObject({ code: 0 });
});

test("restoring over a running gateway is refused with the code for trying again later", async () => {
  const { out } = await command("backup", "--home", gateway.home, "--folder", join(temp.path, "plain"), "--json");
  const { file } = JSON.parse(out) as { file: string };
  const refused = await command("restore", file, "--home", gateway.home, "--replace");
  expect(refused.code).toBe(75);
  expect(refused.err).toContain("is already running on");
  expect((await gateway.chat("still there?", { session: "dan" })).status).toBe(200);
  const listed = await command("backup", "list", "--home", gateway.home, "--folder", dirname(file));
  expect(listed.out).toContain(file);
});
