/** The built-in tools in a whole gateway: a real pi calls them because its model says so, and people see what comes of it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { once } from "node:events";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import type { TranscriptItem } from "../src/contracts/chat.ts";
import {
  type FakeProvider,
  type FakeReply,
  type ProviderRequest,
  says,
  startFakeProvider,
} from "../src/testing/fake-provider.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import {
  agentPids,
  asked,
  endpoint,
  eventually,
  openSocket,
  problemOf,
  textOf,
  transcript,
  WHOLE_TEST_MS,
} from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

type Step = readonly [tool: string, input: Readonly<Record<string, unknown>>];
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
  "base64",
);
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

let provider: FakeProvider;
let gateway: GatewayProcess;
let searx: Server;
let space = "";
let config: (restart: boolean) => unknown;
/** Released when an answer may be finished. */
const held = Promise.withResolvers<void>();
let deaths = 0;

/** The model does what its user wrote down for it: one tool after the other, then the last words. */
function obedient(request: ProviderRequest): FakeReply {
  if (asked(request).includes("HOLD")) return says("o", held.promise, "k");
  const plan = /PLAN(.*)DONE/s.exec(asked(request))?.[1];
  if (plan === undefined) return says("ok");
  const { steps, end } = JSON.parse(plan) as { steps: Step[]; end: string };
  const from = request.messages.findLastIndex(({ role }) => role === "user");
  const done = request.messages.slice(from).filter(({ role }) => role === "tool").length;
  const [name, input] = steps[done] ?? [];
  if (name === "die" && deaths++ === 0) return { kind: "hang" };
  if (name === "die") return says(end);
  return name === undefined || input === undefined ? says(end) : { kind: "tools", calls: [{ name, input }] };
}

const plan = (steps: readonly Step[], end: string): string => `PLAN${JSON.stringify({ steps, end })}DONE`;

interface Answer {
  readonly content: string;
  readonly attachments?: readonly { readonly name: string; readonly mimeType: string; readonly url: string }[];
}

async function work(session: string, steps: readonly Step[], end = "That is all."): Promise<Answer> {
  const { status, body } = await gateway.chat(plan(steps, end), { session });
  expect([status, body.error ?? null]).toEqual([200, null]);
  return body as Answer;
}

/** What the tools told the model, in order. */
function told(session: readonly TranscriptItem[]): readonly string[] {
  return session.filter(({ role }) => role === "tool").map(({ output }) => output ?? "");
}

beforeAll(async () => {
  searx = createServer((request, response) => {
    if (request.url === "/heron")
      return void response.setHeader("content-type", "text/html").end("<h1>Grey heron</h1><p>It <b>fishes</b> alone.");
    response.end(JSON.stringify({ results: [{ title: "Herons", url: "https://example.org/", content: "A bird." }] }));
  });
  searx.listen(0, "127.0.0.1");
  await once(searx, "listening");
  const baseUrl = `http://127.0.0.1:${(searx.address() as { port: number }).port}`;
  provider = await startFakeProvider(obedient);
  const base = endpoint(provider);
  config = (restart) => ({
    ...base,
    agent: { ...base.agent, pool: { min: 0, max: 1 } },
    agents: [{ id: "demo", model: "gwdemo/demo" }],
    tools: { webSearch: { provider: "searxng", baseUrl }, webFetch: { privateOrigins: [baseUrl] } },
    ...(restart ? { gateway: { commands: { restart } } } : {}),
  });
  gateway = await startGatewayProcess({ config: config(true) });
  space = join(gateway.home, "workspace");
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  searx?.closeAllConnections();
  searx?.close();
});

describe("notes and tasks", () => {
  test("saved in one conversation are found in another one of the same person", async () => {
    await work("notes-one", [
      ["save_note", { title: "Bicycle", content: "Frame number 4711", tags: ["garage"] }],
      ["add_task", { title: "Oil the chain", due_date: "2026-03-01", priority: "high" }],
    ]);
    await work("notes-two", [
      ["search_notes", { query: "what is the frame number?" }],
      ["list_tasks", { status: "pending" }],
    ]);
    const [notes, tasks] = told(await transcript(gateway, "notes-two")).map((text) => JSON.parse(text));
    expect(notes.notes).toMatchObject([{ title: "Bicycle", snippet: "Frame number 4711", tags: ["garage"] }]);
    expect(tasks.tasks).toMatchObject([{ title: "Oil the chain", due_date: "2026-03-01", status: "pending" }]);
    await work("notes-two", [
      ["complete_task", { task_id: tasks.tasks[0].id }],
      ["list_tasks", { status: "pending" }],
    ]);
    expect(told(await transcript(gateway, "notes-two")).at(-1)).toBe('{"tasks":[]}');
  });
});

describe("send_message", () => {
  test("shows its message before the reply, in the chat, in the transcript and in the answer", async () => {
    const socket = await openSocket(gateway);
    const answer = await work("said", [
      ["send_message", { text: "One moment" }],
      ["send_message", { text: "Nearly there" }],
    ]);
    expect(answer.content).toBe("One moment\n\nNearly there\n\nThat is all.");
    const items = (await transcript(gateway, "said")).filter(({ role }) => role === "assistant");
    expect(items.map(({ text, extra = false }) => [text, extra])).toEqual([
      ["One moment", true],
      ["Nearly there", true],
      ["That is all.", false],
    ]);
    await socket.until("the end of the turn", (events) => events.some(({ event }) => event === "turn.ended"));
    const order = socket.events.flatMap((frame) => {
      if (frame.event === "message" && frame.data.item.role === "assistant") return [frame.data.item.text];
      return frame.event === "turn.ended" ? ["ended"] : [];
    });
    expect(order.slice(0, 3)).toEqual(["One moment", "Nearly there", "ended"]); // said while the turn was going on
    socket.close();
  });

  test("is enough of an answer when the model says nothing more", async () => {
    const { body } = await gateway.chat(plan([["send_message", { text: "Everything is said." }]], ""), {
      session: "enough",
    });
    expect(body.content).toBe("Everything is said.");
  });
});

describe("send_media", () => {
  test("sends a copy of the file, as a picture behind a signed address", async () => {
    await writeFile(join(space, "chart.png"), PNG);
    const answer = await work("pictures", [["send_media", { path: "./chart.png", caption: "Monthly report" }]]);
    expect(answer.attachments).toMatchObject([{ name: "chart.png", mimeType: "image/png" }]);
    const response = await fetch(`${gateway.url}${answer.attachments?.[0]?.url}`);
    expect(Buffer.from(await response.arrayBuffer()).equals(PNG)).toBe(true);
    expect(response.headers.get("content-disposition")).toStartWith("inline");
    const said = (await transcript(gateway, "pictures")).find(({ extra }) => extra);
    expect(said).toMatchObject({ text: "Monthly report", attachments: [{ name: "chart.png", bytes: PNG.byteLength }] });
  });

  test("sends what a browser could run only for download", async () => {
    await writeFile(join(space, "drawing.png"), SVG);
    const answer = await work("svg", [["send_media", { path: "drawing.png" }]]);
    expect(answer.attachments).toMatchObject([{ mimeType: "image/svg+xml" }]);
    const response = await fetch(`${gateway.url}${answer.attachments?.[0]?.url}`);
    expect([response.headers.get("content-type"), response.headers.get("content-disposition")?.split(";")[0]]).toEqual([
      "application/octet-stream",
      "attachment",
    ]);
    expect(response.headers.get("content-security-policy")).toContain("sandbox");
  });

  test("does not send the gateway's own files, however they are named", async () => {
    await symlink(join(gateway.home, "token"), join(space, "innocent.txt"));
    await symlink(gateway.home, join(space, "up"));
    const paths = [
      "../token",
      join(gateway.home, "token"),
      "innocent.txt",
      "up/token",
      "/etc/passwd",
      "file:///etc/passwd",
    ];
    const answer = await work(
      "thief",
      paths.map((path): Step => ["send_media", { path }]),
    );
    expect(answer).toMatchObject({ content: "That is all." });
    expect(answer.attachments).toBeUndefined();
    const items = await transcript(gateway, "thief");
    expect(items.filter(({ role }) => role === "tool").map(({ status }) => status)).toEqual(paths.map(() => "error"));
    expect(JSON.stringify(items)).not.toContain(gateway.token);
  });
});

describe("a line MEDIA:<path> in a reply", () => {
  test("sends the file with the reply, and a file that may not be sent is named as missing", async () => {
    await mkdir(join(space, "out"), { recursive: true });
    await writeFile(join(space, "out", "graph.png"), PNG);
    const answer = await work("lines", [], "Here it is:\nMEDIA:out/graph.png\nMEDIA:../token\nDone.");
    expect(answer.content).toBe("Here it is:\nDone.\n\n_(A file was not sent. The path must not contain `..`.)_");
    expect(answer.attachments).toMatchObject([{ name: "graph.png" }]);
  });
});

describe("message", () => {
  test("reads this chat, and changes and withdraws what the assistant said in it", async () => {
    await work("history", [], "The captial of France is Paris.");
    await work("history", [["message", { action: "read", limit: 3 }]]);
    const { messages } = JSON.parse(told(await transcript(gateway, "history"))[0] ?? "{}");
    const mistake = messages.find(({ from }: { from: string }) => from === "assistant");
    expect(mistake).toMatchObject({ text: "The captial of France is Paris." });
    await work("history", [
      ["message", { action: "edit", messageId: mistake.id, text: "The capital of France is Paris." }],
    ]);
    const texts = async () => (await transcript(gateway, "history")).map(({ text }) => text);
    expect(await texts()).toContain("The capital of France is Paris.");
    await work("history", [["message", { action: "delete", messageId: mistake.id }]]);
    expect((await texts()).filter((text) => text.includes("France is Paris") && !text.includes("PLAN"))).toEqual([]);
    await work("elsewhere", [
      ["message", { action: "delete", messageId: mistake.id }],
      ["message", { action: "pin", messageId: "1" }],
    ]);
    expect(told(await transcript(gateway, "elsewhere"))).toEqual([
      expect.stringContaining("no message with that id in this chat"),
      expect.stringContaining("no message with that id in this chat"),
    ]);
  });
});

describe("web_search", () => {
  test("gives the model results that are marked as coming from outside", async () => {
    await work("search", [["web_search", { query: "herons" }]]);
    const last = provider.requests.findLast((request) => request.messages.some(({ role }) => role === "tool"));
    const result = textOf(last?.messages.findLast(({ role }) => role === "tool")?.content);
    expect(result).toMatch(
      /<untrusted-text [\w-]+ source="web_search">[\s\S]*"title":"Herons"[\s\S]*<\/untrusted-text/,
    );
  });
});

describe("web_fetch", () => {
  test("is there with web_search, and opens a page for the model, marked as coming from outside", async () => {
    const address = `http://127.0.0.1:${(searx.address() as { port: number }).port}/heron`;
    await work("open", [
      ["web_fetch", { url: address }],
      ["web_fetch", { url: "http://169.254.169.254/latest/meta-data" }],
    ]);
    const [page, inside] = told(await transcript(gateway, "open"));
    expect(page).toMatch(
      /<untrusted-text [\w-]+ source="web_fetch">[\s\S]*# Grey heron\n\nIt \*\*fishes\*\* alone\.\n<\/untrusted-text/,
    );
    expect(inside).toContain("it is on a private network");
  });
});

describe("session_status", () => {
  test("tells an owner about another conversation too", async () => {
    await work("status", [
      ["session_status", {}],
      ["session_status", { sessionKey: "agent:default:api:dm:said" }],
    ]);
    const [own, other] = told(await transcript(gateway, "status"));
    expect(own).toMatch(
      /^Model: fake\/fake-1\nContext: .*\nTokens: .* in \/ .* out\nCost: \$0\.0000\nMessages: \d+\nStreaming: true$/,
    );
    expect(other).toMatch(/^Model: fake\/fake-1\nContext: not known yet\n[\s\S]*Streaming: false$/);
  });
});

describe("an agent that dies in the middle of its work", () => {
  const dieAfter = async (session: string, step: Step): Promise<readonly TranscriptItem[]> => {
    deaths = 0;
    const answering = gateway.chat(plan([step, ["die", {}]], "Done at last."), { session });
    await eventually(
      "the agent has died once",
      () => deaths,
      (count) => count === 1,
    );
    for (const pid of agentPids(gateway.home)) process.kill(pid, "SIGKILL");
    await answering;
    return transcript(gateway, session);
  };

  test("has saved its note once, although the turn runs again", async () => {
    const items = await dieAfter("dying-note", ["save_note", { title: "Lighthouse", content: "Blinks twice" }]);
    expect(items.at(-1)?.text).toBe("Done at last.");
    expect(items.filter(({ tool }) => tool === "save_note").map(({ status }) => status)).toEqual([
      "success",
      "success",
    ]);
    await work("dying-note", [["search_notes", { query: "lighthouse" }]]);
    expect(JSON.parse(told(await transcript(gateway, "dying-note")).at(-1) ?? "{}").notes).toHaveLength(1);
  });

  test("has sent its message once, and the turn is not repeated", async () => {
    const items = await dieAfter("dying-message", ["send_message", { text: "Only once" }]);
    expect(items.filter(({ role }) => role === "assistant").map(({ text, kind }) => [kind, text])).toEqual([
      ["reply", "Only once"],
      ["notice", expect.stringContaining("must not run twice") as unknown as string],
    ]);
  });
});

describe("the demo model", () => {
  test("uses the real tools when it is asked in plain words", async () => {
    const say = async (text: string) => (await gateway.chat(text, { session: "demo", agent: "demo" })).body as Answer;
    expect((await say("note: the spare key is under the mat")).content).toContain('"saved":true');
    expect((await say("search my notes for key")).content).toContain("under the mat");
    expect((await say("add task water the plants")).content).toContain('"created":true');
    expect((await say("what are my tasks?")).content).toContain("- [ ] water the plants");
    expect((await say("What is your status?")).content).toContain("Model: gwdemo/demo");
    const chart = await say("send me a chart");
    expect(chart.attachments).toMatchObject([{ name: "demo-chart.png", mimeType: "image/png" }]);
    const picture = await fetch(`${gateway.url}${chart.attachments?.[0]?.url}`);
    expect((await picture.arrayBuffer()).byteLength).toBeGreaterThan(200);
  });
});

describe("a restart on request", () => {
  test("keeps the address and everything that was said, and the answer that was being given arrives", async () => {
    const before = gateway.stdout().split("\n").length;
    const pid = gateway.pid;
    const socket = await openSocket(gateway);
    const answering = gateway.chat("HOLD this while restarting", { session: "restart" });
    await socket.until("the first words of the answer", (events) => events.some(({ event }) => event === "turn.delta"));
    const asking = await gateway.fetch("/api/restart", { method: "POST" });
    expect([asking.status, await asking.json()]).toEqual([202, { restarting: true }]);
    await socket.until("the stop in the log", () => gateway.stderr().includes("gateway stopping"));
    held.resolve();
    expect((await answering).body.content).toBe("ok");
    await eventually(
      "another line on standard output",
      () => gateway.stdout().split("\n").length,
      (lines) => lines > before,
    );
    expect((await gateway.chat("and again", { session: "restart" })).body.content).toBe("ok");
    expect((await transcript(gateway, "restart")).map(({ text }) => text)).toEqual([
      "HOLD this while restarting",
      "ok",
      "and again",
      "ok",
    ]);
    expect(gateway.pid).toBe(pid);
    expect(JSON.parse(await readFile(join(gateway.home, "gateway.json"), "utf8")).url).toBe(gateway.url);
  });

  test("is refused where it is not allowed", async () => {
    const reload = async (restart: boolean) => {
      await writeFile(join(gateway.home, "pi-gateway.jsonc"), JSON.stringify(config(restart)), { mode: 0o600 });
      expect((await gateway.fetch("/api/config/reload", { method: "POST" })).status).toBe(200);
    };
    await reload(false);
    const answer = await problemOf(await gateway.fetch("/api/restart", { method: "POST" }));
    await reload(true);
    expect(answer).toEqual({
      status: 403,
      code: "forbidden",
      message: "Restarting from here is off. Set gateway.commands.restart to true to allow it.",
    });
  });
});
