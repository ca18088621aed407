import { expect, test } from "bun:test";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";

const REPORT = {
  databaseBytes: 3 * 1024 * 1024,
  kinds: [
    {
      kind: "messages",
      rows: 12_345,
      bytes: 2_097_152,
      oldestAt: Date.UTC(2026, 0, 2),
      keepDays: 730,
      setting: "retention.messagesDays",
    },
    { kind: "tool calls", rows: 0, bytes: 4_096, oldestAt: null, keepDays: 0, setting: "tools.keepDays" },
    { kind: "job runs", rows: 1, bytes: 12, oldestAt: null, keepDays: null, setting: null },
  ],
  folders: [{ folder: "media", files: 2, bytes: 1_500 }],
};

test("pi-gw storage shows rows, size, oldest row and time of each kind, and --json the answer itself", async () => {
  await using fx = await cliFixture();
  await using _gateway = await fakeGateway(fx.home, async (_request, { pathname }) =>
    pathname === "/api/storage" ? Response.json(REPORT) : new Response(null, { status: 404 }),
  );
  expect(await fx.run("storage")).toBe(0);
  expect(fx.out().trimEnd().split("\n")).toEqual([
    "The database has 3.0 MiB.",
    "KIND        ROWS    SIZE      OLDEST      KEPT",
    "messages    12,345  2.0 MiB   2026-01-02  730 days (retention.messagesDays)",
    "tool calls  0       4.0 KiB   -           for ever (tools.keepDays)",
    "job runs    1       12 bytes  -           as long as it is needed",
    "",
    "FOLDER  FILES  SIZE",
    "media   2      1.5 KiB",
  ]);
  const shown = fx.out().length;
  expect(await fx.run("storage", "--json")).toBe(0);
  expect(JSON.parse(fx.out().slice(shown))).toEqual(REPORT);
});
