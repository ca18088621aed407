/** What schedules will do, over HTTP. The rest of jobs is tested with a whole gateway (test/cron.test.ts). */
import { expect, test } from "bun:test";
import type { ScheduleQuestion } from "../../contracts/automation/jobs.ts";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";

test("a schedule is read from words or from its parts, and a wrong one is refused in a sentence", async () => {
  const asked: ScheduleQuestion[] = [];
  await using world = startHttpWorld(
    {},
    {
      automation: {
        lookAhead: {
          preview(question) {
            asked.push(question);
            if ("words" in question && question.words === "never")
              return { kind: "refused", code: "bad_schedule", say: "Never is not a time." };
            return {
              kind: "ok",
              schedule: { kind: "cron", expr: "0 9 * * *" },
              words: "every day at 09:00",
              nextAt: [1],
            };
          },
          calendar: async (range) => ({ days: [{ date: range.from, runs: [] }], frequent: [], isPartial: false }),
        },
      },
    },
  );
  const get = async (path: string) => {
    const response = await world.call(path);
    return [response.status, await response.json()];
  };
  expect(await get("/api/cron/preview?words=every+day+at+9&timezone=UTC")).toEqual([
    200,
    { schedule: { kind: "cron", expr: "0 9 * * *" }, words: "every day at 09:00", nextAt: [1] },
  ]);
  await get("/api/cron/preview?kind=every&expr=30m");
  expect(asked).toEqual([{ words: "every day at 9", timezone: "UTC" }, { schedule: { kind: "every", expr: "30m" } }]);
  expect(await get("/api/cron/preview?words=never")).toMatchObject([
    422,
    { error: { code: "bad_schedule", message: "Never is not a time." } },
  ]);
  expect(await get("/api/cron/preview?kind=every")).toMatchObject([400, { error: { code: "bad_request" } }]);
  expect(await get("/api/cron/calendar?from=2026-11-01&days=30&timezone=UTC")).toMatchObject([
    200,
    { days: [{ date: "2026-11-01" }] },
  ]);
  expect(await get("/api/cron/calendar?from=2026-11-01&days=43&timezone=UTC")).toMatchObject([422, {}]);
});
