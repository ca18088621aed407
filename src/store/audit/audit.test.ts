/** The chain of tool calls: whole while nobody touches it, and every kind of tampering is found where it happened. */
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { copyFile, cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../kit/clock.ts";
import { systemIds } from "../../kit/ids.ts";
import { silentLog } from "../../kit/log.ts";
import { intent } from "../../testing/contracts/store/store-world.ts";
import { type TempHome, tempHome } from "../../testing/temp-home.ts";
import { firstMessage } from "../migrations/early/001-first-message.ts";
import { openStore } from "../open.ts";
import { readAuditKey } from "../secret-files.ts";
import { type CallRow, createChainKey, endContent, intentContentWithoutSeq } from "./links.ts";
import { verifyAudit } from "./verify.ts";

/** For tests that do much, on a machine that has other things to do. */
const SLOW_MS = 60_000;
const DEPS = { clock: systemClock, ids: systemIds, log: silentLog };
const database = (home: TempHome) => join(home.path, "gateway.db");

/** State directories to copy for each test: filling one takes longer than most of the tests. */
const patterns = new Map<string, TempHome>();
afterAll(async () => {
  for (const pattern of patterns.values()) await pattern[Symbol.asyncDispose]();
});

/** Ends come in another order than beginnings, some calls are refused, one is left running. */
async function filled(calls = 20, { leaveOpen = true } = {}): Promise<TempHome> {
  const name = `${calls} ${leaveOpen}`;
  const pattern = patterns.get(name) ?? (await fill(calls, leaveOpen));
  patterns.set(name, pattern);
  const home = await tempHome();
  await cp(pattern.path, home.path, { recursive: true });
  return home;
}

async function fill(calls: number, leaveOpen: boolean): Promise<TempHome> {
  const home = await tempHome();
  await using store = await openStore(DEPS, { home: home.path });
  const { toolCalls } = store;
  for (let n = 0; n < calls; n++) {
    if (n % 5 === 4) {
      const status = n % 2 === 0 ? "blocked" : "error";
      await toolCalls.refuse({ ...intent(`c${n}`, "t1", true), at: n }, { status, output: "no" });
    } else await toolCalls.intend({ ...intent(`c${n}`, "t1", true), at: n });
    if (n % 5 === 3 && !leaveOpen) await toolCalls.settle(`c${n}`, { status: "error", output: "", ms: 1 });
    if (n % 5 === 2)
      for (const back of [2, 0, 1])
        await toolCalls.settle(`c${n - back}`, { status: "success", output: `o${n}`, ms: n });
  }
  return home;
}

function tamper(home: TempHome, statement: string): void {
  using db = new Database(database(home));
  db.exec(statement);
}

/** The chain as it would be had an earlier version written it. */
async function relinkWithoutSeq(home: TempHome): Promise<void> {
  const key = createChainKey(readAuditKey(home.path) ?? new Uint8Array());
  using db = new Database(database(home));
  const links = db
    .query<CallRow, []>("select * from tool_calls")
    .all()
    .flatMap((row) => [
      { row, no: row.intent_no ?? 0, kind: "intent" as const, content: intentContentWithoutSeq(row) },
      ...(row.end_no === null ? [] : [{ row, no: row.end_no, kind: "end" as const, content: endContent(row) }]),
    ])
    .toSorted((a, b) => a.no - b.no);
  let hash = "";
  for (const { row, no, kind, content } of links) {
    hash = key.linkHash(hash, { no, kind }, content);
    db.query(`update tool_calls set ${kind}_hash = ? where id = ?`).run(hash, row.id);
  }
  const head = { no: links.length, hash };
  db.query("update audit_marks set hash = ?, mac = ? where name = 'head'").run(hash, key.markMac("head", head));
  const file = JSON.stringify({ ...head, mac: key.markMac("file", head), at: 0 });
  await writeFile(join(home.path, "audit-head.json"), file);
}

describe("the record of tool calls", () => {
  test("verifies as it was written, beside a running gateway and after it, with calls that have no end", async () => {
    await using home = await filled();
    expect(await verifyAudit(home.path)).toEqual({ kind: "intact", calls: 20, entries: 0, links: 36, findings: [] });
    expect(JSON.parse(await readFile(join(home.path, "audit-head.json"), "utf8"))).toMatchObject({ no: 36 });
    await using store = await openStore(DEPS, { home: home.path });
    await store.toolCalls.intend(intent("now", "t1", false));
    expect((await verifyAudit(home.path)).kind).toBe("intact");
  });

  test("tool calls of an older version are taken into the chain at the next start", async () => {
    await using home = await tempHome();
    {
      using db = new Database(database(home));
      db.exec(firstMessage.sql);
      db.exec("pragma application_id = 0x70694757; pragma user_version = 1; pragma journal_mode = wal");
      db.exec(`insert into tool_calls (id, call_id, turn_id, session_key, principal, tool, origin, input, idempotent, status, output, ms, at)
        values ('a', 'same', 't', 's', 'operator', 'echo', 'chat', '{}', 1, 'success', 'x', 1, 1),
               ('b', 'same', 't', 's', 'operator', 'echo', 'chat', '{}', 1, 'running', null, null, 2)`);
    }
    await using store = await openStore(DEPS, { home: home.path });
    const { items } = await store.toolCalls.list({}, { limit: 5 });
    expect(items.map(({ id, status }) => [id, status])).toEqual([
      ["b", "unknown"],
      ["a", "success"],
    ]);
    expect(await verifyAudit(home.path)).toMatchObject({ kind: "intact", calls: 2, links: 4 });
  });

  const COLUMNS = [
    ["seq", "99"],
    ["id", "'x'"],
    ["call_id", "'x'"],
    ["scope", "'x'"],
    ["turn_id", "'x'"],
    ["session_key", "'x'"],
    ["principal", "'x'"],
    ["tool", "'x'"],
    ["origin", "'x'"],
    ["path", "'x'"],
    ["params_hash", "'x'"],
    ["idempotent", "0"],
    ["status", "'error'"],
    ["ms", "99"],
    ["at", "99"],
    ["input", "'{}'"],
    ["asked", "'{}'"],
    ["output", "'x'"],
    ["reply", "'{}'"],
    ["intent_hash", "'x'"],
    ["end_hash", "'x'"],
  ] as const;
  test.each(COLUMNS)("shows a changed %s at the call it belongs to", async (column, value) => {
    await using home = await filled();
    tamper(home, `update tool_calls set ${column} = ${value} where seq = 7`);
    const { kind, findings } = await verifyAudit(home.path);
    expect([kind, findings.some(({ callId }) => callId === (column === "id" ? "x" : "c6"))]).toEqual([
      "tampered",
      true,
    ]);
    expect(findings.length).toBeLessThanOrEqual(3);
  });

  test.each([
    ["a call taken away from the middle", "delete from tool_calls where seq = 9"],
    ["the first call taken away", "delete from tool_calls where seq = 1"],
    ["the last call taken away", "delete from tool_calls where seq = 20"],
    ["the last calls taken away", "delete from tool_calls where seq > 15"],
    ["all calls taken away", "delete from tool_calls"],
    [
      "two calls exchanged",
      "update tool_calls set intent_no = case seq when 3 then (select intent_no from tool_calls where seq = 8) else (select intent_no from tool_calls where seq = 3) end where seq in (3, 8)",
    ],
    [
      "a call added",
      "insert into tool_calls (id, call_id, scope, turn_id, session_key, principal, tool, origin, path, params_hash, idempotent, status, at, input) values ('z','z','z','z','z','z','z','z','z','z',1,'blocked',1,'{}')",
    ],
    [
      "a call copied",
      "insert into tool_calls select 99, 'z', 'z', 'z', turn_id, session_key, principal, tool, origin, path, params_hash, idempotent, status, ms, at, intent_no, intent_hash, end_no, end_hash, input, output, reply, asked, node from tool_calls where seq = 5",
    ],
    [
      "the order of two calls exchanged",
      "update tool_calls set seq = case seq when 3 then -8 else -3 end where seq in (3, 8); update tool_calls set seq = -seq where seq < 0",
    ],
    ["a call moved behind the others", "update tool_calls set seq = 1000 where seq = 4"],
    ["the last call moved on", "update tool_calls set seq = 21 where seq = 20"],
    [
      "every call renumbered in the same order",
      "update tool_calls set seq = -(seq + 100); update tool_calls set seq = -seq",
    ],
    [
      "calls renumbered after one was taken away",
      "delete from tool_calls where seq = 9; update tool_calls set seq = seq - 1 where seq > 9",
    ],
    [
      "links renumbered after a call was taken away",
      "delete from tool_calls where seq = 5; update tool_calls set intent_no = intent_no - 2, end_no = end_no - 2 where seq > 5; update audit_marks set no = no - 2 where name = 'head'",
    ],
    ["an end withdrawn", "update tool_calls set status = 'running', end_no = null, end_hash = null where seq = 2"],
    [
      "the head moved back with its calls",
      "delete from tool_calls where seq > 18; update audit_marks set no = 33 where name = 'head'",
    ],
    [
      "the beginning declared old",
      "delete from tool_calls where seq = 1; update audit_marks set no = 1 where name = 'start'",
    ],
    ["the marks taken away", "delete from audit_marks"],
  ])("shows %s", async (_what, statement) => {
    await using home = await filled();
    tamper(home, statement);
    const { kind, findings } = await verifyAudit(home.path);
    expect([kind, findings.length > 0]).toEqual(["tampered", true]);
  });

  test("written by a version whose links left seq out verifies, and shows calls in another order", async () => {
    await using home = await filled();
    await relinkWithoutSeq(home);
    expect(await verifyAudit(home.path)).toMatchObject({ kind: "intact", findings: [] });
    {
      await using store = await openStore(DEPS, { home: home.path });
      await store.toolCalls.refuse(intent("later", "t1", true), { status: "blocked", output: "no" });
    }
    expect(await verifyAudit(home.path)).toMatchObject({ kind: "intact", findings: [] });
    tamper(home, "update tool_calls set seq = 1000 where seq = 4");
    const { kind, findings } = await verifyAudit(home.path);
    expect([kind, findings.length > 0]).toEqual(["tampered", true]);
  });

  test("shows an end that was cut off together with everything in the database that knows of it", async () => {
    await using home = await filled(5);
    await copyFile(database(home), `${database(home)}.old`);
    {
      await using store = await openStore(DEPS, { home: home.path });
      await store.toolCalls.refuse(intent("later", "t1", true), { status: "blocked", output: "no" });
    }
    await copyFile(`${database(home)}.old`, database(home));
    expect(await verifyAudit(home.path)).toMatchObject({
      kind: "tampered",
      findings: [{ say: expect.stringContaining("audit-head.json") }],
    });
  });

  test.each([
    ["head", "delete from tool_calls where seq > 15", "max"],
    ["start", "delete from tool_calls where seq < 5", "min"],
  ])(
    "shows a %s that was moved to where the calls now end, although the file beside it is gone too",
    async (mark, cut, end) => {
      await using home = await filled();
      await rm(join(home.path, "audit-head.json"));
      const links =
        "select intent_no as no, intent_hash as hash from tool_calls union all select end_no, end_hash from tool_calls where end_no is not null";
      const place =
        mark === "head" ? `select no, hash from (${links}) order by no desc limit 1` : "select 8, 'unknown'";
      tamper(home, `${cut}; update audit_marks set (no, hash) = (${place}) where name = '${mark}'`);
      const { kind, findings } = await verifyAudit(home.path);
      expect([
        kind,
        findings.some(({ say }) => say === `The mark of the ${mark} of the chain was changed.`),
        end,
      ]).toEqual(["tampered", true, end]);
    },
  );

  test("shows a call of another course of events in the place of the real one", async () => {
    await using home = await filled(5);
    const file = database(home);
    const goOn = async (...ids: string[]) => {
      await using store = await openStore(DEPS, { home: home.path });
      for (const id of ids) await store.toolCalls.refuse(intent(id, "t1", true), { status: "blocked", output: "no" });
    };
    await copyFile(file, `${file}.fork`);
    await goOn("w", "x");
    await copyFile(file, `${file}.other`);
    await copyFile(`${file}.fork`, file);
    await goOn("v", "y", "z");
    // the real second call gives way to the one that stands in its place in the other course: every number and hash of it is genuine
    const columns = "id, intent_no, intent_hash, end_no, end_hash, call_id, params_hash, input";
    tamper(
      home,
      `attach '${file}.other' as other; update tool_calls set (${columns}) = (select ${columns} from other.tool_calls where id = 'x') where id = 'y'`,
    );
    const { kind, findings } = await verifyAudit(home.path);
    expect([kind, findings.some(({ callId }) => callId === "x")]).toEqual(["tampered", true]);
  });

  test("shows a head file that was changed or is gone", async () => {
    await using home = await filled();
    const file = join(home.path, "audit-head.json");
    const text = await readFile(file, "utf8");
    for (const wrong of [text.replace(/"no":\d+/, '"no":1'), "nonsense", "null"]) {
      await writeFile(file, wrong);
      expect((await verifyAudit(home.path)).kind).toBe("tampered");
    }
    await using longer = await filled(80);
    await rm(join(longer.path, "audit-head.json"));
    expect((await verifyAudit(longer.path)).kind).toBe("tampered");
  });

  test("cannot be forged without the key, and says so when the key is gone", async () => {
    await using home = await filled();
    await writeFile(join(home.path, "audit.key"), Buffer.alloc(32, 1).toString("base64url"));
    expect((await verifyAudit(home.path)).kind).toBe("tampered");
    await rm(join(home.path, "audit.key"));
    expect((await verifyAudit(home.path)).kind).toBe("unverifiable");
  });

  test("a missing database is reported in a sentence", async () => {
    await using home = await tempHome();
    expect(await verifyAudit(home.path)).toMatchObject({
      kind: "unverifiable",
      findings: [{ say: expect.stringContaining("nothing to verify") }],
    });
  });
});

test(
  "a changed value is found in each of fifty places",
  async () => {
    await using home = await filled(50);
    using db = new Database(database(home));
    const columns = ["tool", "input", "output", "principal", "status"] as const;
    let found = 0;
    for (let n = 0; n < 50; n++) {
      const [seq, column] = [1 + n, columns[n % columns.length] ?? "tool"];
      const before = db
        .query<Record<string, string | null>, [number]>("select * from tool_calls where seq = ?")
        .get(seq);
      const value =
        column === "status" ? (before?.["status"] === "unknown" ? "error" : "unknown") : `${before?.[column] ?? ""}~`;
      db.query(`update tool_calls set ${column} = ? where seq = ?`).run(value, seq);
      const verdict = await verifyAudit(home.path);
      if (verdict.findings.some(({ callId }) => callId === before?.["id"])) found++;
      db.query(`update tool_calls set ${column} = ? where seq = ?`).run(before?.[column] ?? null, seq);
    }
    expect(found).toBe(50);
    expect((await verifyAudit(home.path)).kind).toBe("intact");
  },
  SLOW_MS,
);

describe("old calls", () => {
  test("are taken away from the beginning, and what is left verifies", async () => {
    await using home = await filled(40, { leaveOpen: false });
    {
      await using store = await openStore(DEPS, { home: home.path });
      expect(await store.toolCalls.prune(0)).toBe(0);
      let gone = 0;
      for (let some = 1; some > 0; gone += some) some = await store.toolCalls.prune(23);
      expect(gone).toBeGreaterThan(15);
      const { items } = await store.toolCalls.list({}, { limit: 100 });
      expect(items.length).toBe(40 - gone);
      expect(items.filter(({ createdAt }) => createdAt >= 23).length).toBe(17);
      expect((await verifyAudit(home.path)).findings).toEqual([]);
      await store.toolCalls.refuse(intent("later", "t1", true), { status: "blocked", output: "no" });
    }
    expect(await verifyAudit(home.path)).toMatchObject({ kind: "intact", findings: [] });
    tamper(home, "delete from tool_calls where seq = (select min(seq) from tool_calls)");
    expect((await verifyAudit(home.path)).kind).toBe("tampered");
  });

  test("that are all old go, all of them", async () => {
    await using home = await filled(20);
    await using store = await openStore(DEPS, { home: home.path });
    for (let some = 1; some > 0;) some = await store.toolCalls.prune(1_000);
    expect((await store.toolCalls.list({}, { limit: 5 })).items).toEqual([]);
    await store.toolCalls.refuse(intent("later", "t1", true), { status: "blocked", output: "no" });
    expect((await verifyAudit(home.path)).findings).toEqual([]);
  });

  test("without an end stay, and so does what was linked after them", async () => {
    await using home = await tempHome();
    await using store = await openStore(DEPS, { home: home.path });
    const { toolCalls } = store;
    for (const id of ["a", "b", "c"]) await toolCalls.intend({ ...intent(id, "t1", true), at: 1 });
    await toolCalls.settle("a", { status: "success", output: "", ms: 1 });
    await toolCalls.settle("c", { status: "success", output: "", ms: 1 });
    for (let some = 1; some > 0;) some = await toolCalls.prune(1_000);
    expect((await toolCalls.list({}, { limit: 5 })).items.map(({ id }) => id)).toEqual(["c", "b", "a"]);
    await toolCalls.settle("b", { status: "success", output: "", ms: 1 });
    for (let some = 1; some > 0;) some = await toolCalls.prune(1_000);
    expect((await verifyAudit(home.path)).findings).toEqual([]);
  });
});

test(
  "a hundred thousand calls are listed and filtered within 50 ms, each by an index",
  async () => {
    await using home = await filled(1);
    tamper(
      home,
      `insert into tool_calls (id, call_id, scope, turn_id, session_key, principal, tool, origin, path, params_hash, idempotent, status, ms, at, intent_no, intent_hash, input, output)
     with recursive n (i) as (select 1 union all select i + 1 from n where i < 100000)
     select 'r' || i, 'r' || i, 'r', 't' || (i / 3), 's' || (i * 7919 % 500), 'operator', 'tool' || (i * 104729 % 40), 'chat', 'pipe', '', 1,
       case i % 20 when 0 then 'error' when 1 then 'blocked' else 'success' end, 3, i, i + 9, '', '{"text":"' || hex(zeroblob(100)) || '"}', hex(zeroblob(100)) from n`,
    );
    await using store = await openStore(DEPS, { home: home.path });
    const session = { sessionKey: "s7" as never };
    const filters = [
      ...[
        {},
        session,
        { tool: "tool3" },
        { status: "error" },
        { status: "success" },
        { status: "unknown" },
        { status: "pending" },
      ],
      ...[
        { since: 50_000, until: 50_100 },
        { until: 200 },
        { ...session, tool: "tool3" },
        { ...session, status: "blocked" },
      ],
      ...[
        { tool: "tool3", status: "blocked", since: 10, until: 90_000 },
        { ...session, tool: "nothing" },
        { tool: "nothing" },
      ],
    ] as const;
    const took: [string, number][] = [];
    for (const filter of filters) {
      const times: number[] = [];
      for (let round = 0; round < 5; round++) {
        const from = performance.now();
        await store.toolCalls.list(filter as never, { limit: 50 });
        times.push(performance.now() - from);
      }
      took.push([JSON.stringify(filter), Math.min(...times)]);
    }
    expect(took.filter(([, ms]) => ms > 50)).toEqual([]);
  },
  SLOW_MS,
);
