import { expect, test } from "bun:test";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";

const JOB = {
  id: "tea",
  schedule: { kind: "every", expr: "1h" },
  task: "make tea\u001b[2J",
  state: "active",
  nextAt: 3_600_000,
};

async function world() {
  const asked: [string, unknown][] = [];
  const searches: string[] = [];
  const fx = await cliFixture();
  const gateway = await fakeGateway(fx.home, async (request, { pathname, search }) => {
    searches.push(search);
    const text = await request.text();
    asked.push([`${request.method} ${pathname}`, text === "" ? null : JSON.parse(text)]);
    if (pathname.endsWith("/runs"))
      return Response.json({ items: [{ slot: 0, status: "missed", reason: "the gateway was not running" }] });
    if (pathname.endsWith("/preview"))
      return Response.json({
        schedule: { kind: "cron", expr: "0 9 * * 1-5", timezone: "UTC" },
        words: search.includes("7") ? null : "every weekday at 09:00",
        nextAt: [3_600_000],
      });
    if (pathname.endsWith("/calendar"))
      return Response.json({
        days: [{ date: "2023-11-15", runs: [{ jobId: "tea\u001b", at: 3_600_000 }] }],
        frequent: ["mail"],
        isPartial: true,
      });
    if (pathname.endsWith("/status")) return Response.json({ enabled: true, nextAt: 3_600_000, running: 2 });
    return request.method === "GET" ? Response.json({ items: [JOB] }) : Response.json({ job: JOB });
  });
  const end = async () => {
    await gateway[Symbol.asyncDispose]();
    await fx[Symbol.asyncDispose]();
  };
  return { ...fx, asked, searches, [Symbol.asyncDispose]: end };
}

test("pi-gw cron list shows when each job is due, safe for a terminal", async () => {
  await using fx = await world();
  expect(await fx.run("cron", "list")).toBe(0);
  expect(fx.out().split("\n")).toEqual([
    "JOB  WHEN      NEXT                      TASK",
    "tea  every 1h  1970-01-01T01:00:00.000Z  make tea\\u001b[2J",
    "",
  ]);
});

test("pi-gw cron list --failing asks for the jobs whose last run failed", async () => {
  await using fx = await world();
  expect(await fx.run("cron", "list", "--failing")).toBe(0);
  expect(fx.searches).toEqual(["?limit=200&failing=true"]);
});

test.each([
  [["--every", "30m", "--id", "tea"], { id: "tea", schedule: { kind: "every", expr: "30m" } }],
  [["--cron", "0 9 * * *", "--timezone", "UTC"], { schedule: { kind: "cron", expr: "0 9 * * *", timezone: "UTC" } }],
  [["--in", "20m", "--once"], { schedule: { kind: "at", expr: "2023-11-14T22:33:20.000Z" }, deleteAfterRun: true }],
])("pi-gw cron add %p asks for the job", async (flags, expected) => {
  await using fx = await world();
  expect(await fx.run("cron", "add", ...flags, "make", "tea")).toBe(0);
  expect(fx.asked).toEqual([["POST /api/cron/jobs", { ...expected, task: "make tea" }]]);
});

test("pi-gw cron add --when has the gateway read the words, and makes the job it answers with", async () => {
  await using fx = await world();
  expect(await fx.run("cron", "add", "--when", "every weekday at 9", "--timezone", "UTC", "make", "tea")).toBe(0);
  const schedule = { kind: "cron", expr: "0 9 * * 1-5", timezone: "UTC" };
  expect(fx.asked).toEqual([
    ["GET /api/cron/preview", null],
    ["POST /api/cron/jobs", { schedule, task: "make tea" }],
  ]);
  expect(fx.searches[0]).toBe("?words=every+weekday+at+9&timezone=UTC");
  expect(await fx.run("cron", "add", "--when", "every day at 9", "--every", "1h", "make", "tea")).not.toBe(0);
});

test("pi-gw cron next says what a schedule means, and that some cannot be said in plain words", async () => {
  await using fx = await world();
  expect(await fx.run("cron", "next", "every", "weekday", "at", "9")).toBe(0);
  expect(fx.out()).toBe("cron 0 9 * * 1-5 (UTC): every weekday at 09:00\n  1970-01-01T01:00:00.000Z\n");
  expect(await fx.run("cron", "next", "--cron", "*/7 * * * *")).toBe(0);
  expect(fx.out()).toContain("cannot be said in plain words");
  expect(fx.searches[1]).toBe("?kind=cron&expr=*%2F7+*+*+*+*");
  expect(await fx.run("cron", "next")).not.toBe(0);
  expect(fx.err()).toContain("Give words, or one of --cron");
});

test("pi-gw cron calendar lists planned runs by day, and what is not in it", async () => {
  await using fx = await world();
  expect(await fx.run("cron", "calendar", "--days", "3", "--timezone", "UTC")).toBe(0);
  expect(fx.out()).toBe("2023-11-15\n  01:00  tea\\u001b\nAll the time: mail\nThere are more jobs than fit here.\n");
  expect(fx.searches).toEqual(["?from=2023-11-14&days=3&timezone=UTC"]);
});

test("pi-gw cron add says what is missing when there is no schedule, or two", async () => {
  await using fx = await world();
  expect(await fx.run("cron", "add", "make", "tea")).not.toBe(0);
  expect(await fx.run("cron", "add", "--every", "1h", "--in", "1h", "make", "tea")).not.toBe(0);
  expect(fx.err()).toContain("Say when with one of --when");
  expect(fx.asked).toEqual([]);
});

test("pi-gw cron update changes what is given and nothing else, and says so when nothing is", async () => {
  await using fx = await world();
  expect(await fx.run("cron", "update", "tea", "make", "coffee")).toBe(0);
  const policies = ["--catch-up", "all", "--overlap", "queue", "--timeout", "10m", "--needs", "web_search,bash"];
  expect(await fx.run("cron", "update", "tea", "--every", "2h", ...policies)).toBe(0);
  expect(await fx.run("cron", "update", "tea")).not.toBe(0);
  expect(fx.err()).toContain("Say what changes");
  expect(fx.asked).toEqual([
    ["PATCH /api/cron/jobs/tea", { task: "make coffee" }],
    [
      "PATCH /api/cron/jobs/tea",
      {
        schedule: { kind: "every", expr: "2h" },
        catchUp: "all",
        overlap: "queue",
        timeoutMs: "10m",
        needs: ["web_search", "bash"],
      },
    ],
  ]);
});

test("pi-gw cron status says whether jobs are on", async () => {
  await using fx = await world();
  expect(await fx.run("cron", "status")).toBe(0);
  expect(fx.out()).toBe("Jobs are on; the next one is due at 1970-01-01T01:00:00.000Z; 2 running.\n");
});

test("pi-gw cron pause, resume, run, remove, runs and wake ask for just that", async () => {
  await using fx = await world();
  for (const words of [
    ["pause", "tea"],
    ["resume", "tea"],
    ["run", "tea"],
    ["remove", "tea"],
    ["runs", "tea"],
    ["wake", "look", "up"],
  ])
    expect(await fx.run("cron", ...words)).toBe(0);
  expect(fx.asked.map(([what]) => what)).toEqual([
    ...["pause", "resume", "run"].map((action) => `POST /api/cron/jobs/tea/${action}`),
    ...["DELETE /api/cron/jobs/tea", "GET /api/cron/jobs/tea/runs", "POST /api/cron/wake"],
  ]);
  expect(fx.out()).toContain("1970-01-01T00:00:00.000Z  missed  the gateway was not running");
});
