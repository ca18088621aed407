/** The proxy with programs that somebody else wrote: curl and git over real sockets. Only the resolver and the last step outside are ours. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Caller } from "../contracts/agent.ts";
import type { EgressCaller, NetworkSetting } from "../contracts/egress.ts";
import type { AgentId, Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import type { NewAuditEntry } from "../contracts/store/tool-calls.ts";
import type { ApprovalAnswer, ApprovalQuestion, Approvals } from "../contracts/tools/approval.ts";
import { type Clock, systemClock } from "../kit/clock.ts";
import { silentLog } from "../kit/log.ts";
import { until } from "../testing/agent-stage.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createHostQuestions, MAX_HOSTS_ASKED } from "./host-questions.ts";
import { connectOut } from "./outgoing.ts";
import { createEgress } from "./proxy.ts";

const PUBLIC = "93.184.216.34";
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "example.org": [PUBLIC],
  "inside.example.org": ["10.0.0.7"],
  "half.example.org": [PUBLIC, "127.0.0.1"],
  "metadata.example.org": ["169.254.169.254"],
};
const ANN: Caller = {
  principal: "web:user:ann" as Principal,
  sessionKey: "agent:default:main" as SessionKey,
  agentId: "default" as AgentId,
  turnId: "turn" as TurnId,
  role: "owner",
  origin: { channel: "webchat", account: "default", chat: "ann" },
};
let host: Bun.Server<undefined>;
const asked: string[] = [];

beforeAll(() => {
  host = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname, host: name } = new URL(request.url);
      asked.push(`${request.method} ${name}${pathname} ${request.headers.get("proxy-connection") ?? "-"}`);
      if (pathname === "/large") return new Response(new Uint8Array(8 * 1024 * 1024));
      return new Response(`hello from ${pathname}`);
    },
  });
});
afterAll(() => host.stop(true));

interface Proxy extends Disposable {
  readonly url: string;
  readonly rows: NewAuditEntry[];
  readonly connected: string[];
}

interface ProxyOptions {
  readonly clock?: Clock;
  /** What the owner answers. */
  readonly ask?: Approvals["ask"];
  readonly over?: AbortSignal;
}

const NOT_ASKED: Approvals["ask"] = () => Promise.reject(new Error("nobody is asked here"));

function proxy(network: NetworkSetting | null, options: ProxyOptions = {}): Proxy {
  const { clock = systemClock, ask = NOT_ASKED, over = new AbortController().signal } = options;
  const rows: NewAuditEntry[] = [];
  const connected: string[] = [];
  const egress = createEgress({
    clock,
    log: silentLog,
    audit: { note: async (row) => void rows.push(row) },
    gatewayPort: Promise.resolve(host.port ?? 0),
    questions: createHostQuestions({ approvals: { ask }, scrub: (text) => text.replace("hunter2", "[redacted]") }),
    resolve: async (name) => NAMES[name] ?? [],
    connect(address, port) {
      connected.push(`${address}:${port}`);
      return connectOut("127.0.0.1", host.port ?? 0);
    },
  });
  const caller: EgressCaller | null = network && {
    of: ANN,
    network,
    over,
    commands: () => ["npm install --token hunter2"],
  };
  const listener = egress.listen(() => caller);
  return {
    url: `http://127.0.0.1:${listener.port}`,
    rows,
    connected,
    [Symbol.dispose]: () => listener[Symbol.dispose](),
  };
}

async function curl(via: Proxy, ...args: string[]) {
  const run = Bun.spawn(["curl", "-sS", "--max-time", "20", "-x", via.url, ...args], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([run.stdout.text(), run.stderr.text(), run.exited]);
  return { out, err, code };
}

test("a program reaches a listed host by a tunnel and by plain http, over the address that was judged, with a row for each connection", async () => {
  using via = proxy({ allow: ["example.org"] });
  expect((await curl(via, "http://example.org/plain")).out).toBe("hello from /plain");
  expect((await curl(via, "-p", "http://example.org/tunnel")).out).toBe("hello from /tunnel");
  expect(via.connected).toEqual([`${PUBLIC}:80`, `${PUBLIC}:80`]);
  expect(asked.slice(-2)).toEqual(["GET example.org/plain -", "GET example.org/tunnel -"]);
  expect(via.rows.map(({ kind, actor, subject, detail }) => [kind, actor, subject, detail])).toEqual(
    Array.from({ length: 2 }, () => [
      "network.opened",
      "web:user:ann",
      "agent:default:main",
      { host: "example.org", port: 80, agent: "default" },
    ]),
  );
});

test.each<[string, NetworkSetting, string]>([
  ["http://example.org/", "none", "agent.network is none"],
  ["http://other.example/", { allow: ["example.org"] }, "other.example is not listed"],
  ["http://inside.example.org/", "all", "private network. Listing it in agent.network does not help."],
  ["http://half.example.org/", "all", "private network"],
  ["http://metadata.example.org/latest", "all", "private network"],
  ["http://169.254.169.254/latest", "all", "private network"],
  ["http://127.0.0.1:1/", "all", "private network"],
  ["http://[::1]/", "all", "private network"],
  ["http://[::ffff:10.0.0.1]/", "all", "private network"],
  ["http://0x7f000001/", "all", "private network"],
  ["http://nobody.example/", "all", "there is no host called nobody.example."],
])(
  "a program does not reach %s with the setting %j, is told why, and the refusal is recorded",
  async (url, network, why) => {
    using via = proxy(network);
    expect((await curl(via, url)).out).toContain(why);
    expect(via.connected).toEqual([]);
    expect(via.rows.map(({ kind }) => kind)).toEqual(["network.refused"]);
  },
);

test("a program that shows only the words behind a status tells why its tunnel was refused", async () => {
  using via = proxy("none");
  const script =
    "import sys, urllib.request as r\ntry: r.urlopen('https://example.org/')\nexcept Exception as e: print(e)";
  const run = Bun.spawn(["python3", "-c", script], { env: { ...process.env, https_proxy: via.url }, stdout: "pipe" });
  expect(await run.stdout.text()).toContain("403 agent.network is none, so agents reach no host");
  expect(via.rows.map(({ kind, detail }) => [kind, detail["because"]])).toEqual([
    ["network.refused", "agent.network is none, so agents reach no host."],
  ]);
});

test("a process that works for nobody reaches nothing", async () => {
  using via = proxy(null);
  const { code, out } = await curl(via, "http://example.org/");
  expect([code === 0, out, via.rows, via.connected]).toEqual([false, "", [], []]);
});

const ASKS: NetworkSetting = { allow: [], ask: true };

test("a connection to a host that is not listed waits for the owner, who sees host, port and command, and goes on with the answer", async () => {
  const questions: ApprovalQuestion[] = [];
  const answer = Promise.withResolvers<ApprovalAnswer>();
  using via = proxy(ASKS, {
    ask(question) {
      questions.push(question);
      return answer.promise;
    },
  });
  const both = Promise.all([curl(via, "http://example.org/one"), curl(via, "-p", "http://example.org/two")]);
  await until("the owner is asked", () => questions.length > 0);
  expect([via.connected, via.rows]).toEqual([[], []]);
  answer.resolve("once");
  expect((await both).map(({ out }) => out)).toEqual(["hello from /one", "hello from /two"]);
  expect((await curl(via, "http://example.org/three")).out).toBe("hello from /three");
  expect(questions).toHaveLength(1); // one question for the turn, however many connections
  expect(questions[0]).toMatchObject({
    tool: "network example.org:80",
    caller: ANN,
    because: "example.org is not listed in agent.network.allow",
    shown: { host: "example.org", port: 80, commands: ["npm install --token [redacted]"] },
  });
  expect(via.rows.map(({ kind, detail }) => [kind, detail["approval"]])).toEqual(
    Array.from({ length: 3 }, () => ["network.opened", "once"]),
  );
});

test.each<[ApprovalAnswer, string]>([
  ["deny", "and the owner did not allow it"],
  ["expired", "and nobody allowed it in time"],
  ["full", "and too many questions wait for the owner already"],
])(
  "a connection that the owner answers with %s is refused with the reason, and nobody is asked again in this turn",
  async (answer, why) => {
    let asks = 0;
    using via = proxy(ASKS, {
      async ask() {
        asks++;
        return answer;
      },
    });
    for (const _ of ["first", "second"]) expect((await curl(via, "http://example.org/")).out).toContain(why);
    expect([asks, via.connected, via.rows.map(({ kind }) => kind)]).toEqual([
      1,
      [],
      ["network.refused", "network.refused"],
    ]);
  },
);

test("a connection is refused when the question cannot be stored", async () => {
  using via = proxy(ASKS, { ask: () => Promise.reject(new Error("disk full")) });
  expect((await curl(via, "http://example.org/")).out).toContain("the owner could not be asked");
});

test("an owner's yes does not open a private network", async () => {
  using via = proxy(ASKS, { ask: async () => "session" });
  expect((await curl(via, "http://inside.example.org/")).out).toContain("private network");
  expect(via.connected).toEqual([]);
});

test("the owner is asked about so many hosts in one turn and no more", async () => {
  const asked: string[] = [];
  const { ask } = createHostQuestions({
    approvals: { ask: async ({ tool }) => (asked.push(tool), "deny") },
    scrub: (text) => text,
  });
  const caller: EgressCaller = { of: ANN, network: ASKS, over: new AbortController().signal, commands: () => [] };
  const answers = await Promise.all(
    Array.from({ length: MAX_HOSTS_ASKED + 1 }, (_, at) =>
      ask({ host: `h${at}.example`, port: 443 }, caller, "it is not listed"),
    ),
  );
  expect(asked).toHaveLength(MAX_HOSTS_ASKED);
  expect(answers.at(-1)).toMatchObject({ kind: "no", because: expect.stringContaining("enough hosts in this turn") });
  await ask({ host: "h0.example", port: 443 }, { ...caller }, "it is not listed");
  expect(asked).toHaveLength(MAX_HOSTS_ASKED + 1); // another turn begins anew
});

test("an owner's yes to one port of a host is none to another port of it", async () => {
  const asked: string[] = [];
  const { ask } = createHostQuestions({
    approvals: { ask: async ({ tool }) => (asked.push(tool), tool.endsWith(":443") ? "once" : "deny") },
    scrub: (text) => text,
  });
  const caller: EgressCaller = { of: ANN, network: ASKS, over: new AbortController().signal, commands: () => [] };
  const [web, shell] = [
    await ask({ host: "example.org", port: 443 }, caller, "it is not listed"),
    await ask({ host: "example.org", port: 22 }, caller, "it is not listed"),
  ];
  expect([web.kind, shell.kind]).toEqual(["yes", "no"]);
  expect(asked).toEqual(["network example.org:443", "network example.org:22"]);
});

test("a question ends with its turn", async () => {
  const turn = new AbortController();
  let asked = false;
  using via = proxy(ASKS, {
    over: turn.signal,
    ask: (_question, signal) =>
      new Promise((resolve) => {
        asked = true;
        signal.addEventListener("abort", () => resolve("expired"), { once: true });
      }),
  });
  const running = curl(via, "http://example.org/");
  await until("the owner is asked", () => asked);
  turn.abort(new Error("the turn is over"));
  expect((await running).out).toContain("nobody allowed it in time");
});

test("a large answer arrives whole", async () => {
  using via = proxy("all");
  const { out } = await curl(via, "-p", "-o", "/dev/null", "-w", "%{size_download}", "http://example.org/large");
  expect(out).toBe(String(8 * 1024 * 1024));
});

test("a connection on which the request does not come in time is closed", async () => {
  const clock = createFakeClock();
  using via = proxy("all", { clock });
  let isClosed = false;
  let text = "";
  const { port } = new URL(via.url);
  const program = await Bun.connect({
    hostname: "127.0.0.1",
    port: Number(port),
    socket: {
      open: (socket) => void socket.write("CONNECT exa"),
      data: (_socket, bytes) => void (text += bytes.toString()),
      close: () => void (isClosed = true),
    },
  });
  await until("the proxy waits for the request", () => clock.pending() === 1);
  await clock.advance(10_000);
  program.write("mple.org:80 HTTP/1.1\r\n\r\n"); // too late
  await until("the connection is closed or answered", () => isClosed || text !== "");
  expect([isClosed, text]).toEqual([true, ""]);
  expect(via.rows).toEqual([]);
});

/** All that a program gets that says this at once and then nothing more. */
async function answerTo(via: Proxy, said: string): Promise<string> {
  const got = Promise.withResolvers<string>();
  let text = "";
  await Bun.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(via.url).port),
    allowHalfOpen: true,
    socket: {
      open(socket) {
        socket.write(said);
        socket.shutdown();
      },
      data: (_socket, bytes) => void (text += bytes.toString()),
      end: (socket) => void socket.end(),
      close: () => got.resolve(text),
    },
  });
  return got.promise;
}

test.each([
  ["an address without a host", "GET / HTTP/1.1\r\n\r\n"],
  ["nonsense", "nonsense\r\n\r\n"],
  ["too much without an end", `CONNECT ${"a".repeat(20_000)}`],
  ["too much with an end", `CONNECT example.org:80 HTTP/1.1\r\nA: ${"a".repeat(20_000)}\r\n\r\n`],
])("a program that says %s is told that this is a proxy", async (_what, said) => {
  using via = proxy("all");
  expect(await answerTo(via, said)).toStartWith("HTTP/1.1 400 this is a proxy");
  expect(via.rows).toEqual([]);
});

test("a program that is refused is told what its owner can set, whether or not an owner was asked", async () => {
  for (const network of [{ allow: [] }, ASKS]) {
    using via = proxy(network, { ask: async () => "deny" });
    expect((await curl(via, "http://example.org/")).out).toContain('The owner can add "example.org" there.');
  }
});

test("a process has so many connections at the same time, and one more is closed at once", async () => {
  using via = proxy("all");
  let closed = 0;
  const connect = () =>
    Bun.connect({
      hostname: "127.0.0.1",
      port: Number(new URL(via.url).port),
      socket: { data: () => undefined, close: () => void closed++ },
    });
  const open = await Promise.all(Array.from({ length: 64 }, connect));
  expect(closed).toBe(0);
  expect(await answerTo(via, "nonsense\r\n\r\n")).toBe("");
  expect(closed).toBe(0);
  for (const one of open) one.end();
});

test("connections that are over do not count: a process opens as many as it likes, one after the other", async () => {
  using via = proxy("all");
  const answers = new Set<string>();
  for (let opened = 0; opened <= 64; opened++) answers.add((await answerTo(via, "nonsense\r\n\r\n")).slice(0, 12));
  expect([...answers]).toEqual(["HTTP/1.1 400"]);
});

test("a program that does not wait for the tunnel before it speaks is heard", async () => {
  using via = proxy("all");
  const request = "GET /early HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n";
  expect(await answerTo(via, `CONNECT example.org:80 HTTP/1.1\r\n\r\n${request}`)).toEndWith("hello from /early");
});
