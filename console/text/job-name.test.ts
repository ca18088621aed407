import { expect, test } from "bun:test";
import { jobNameOf } from "./job-name.ts";

test("a job without a name is called by the first words of its task", () => {
  const cases = [
    ["Plan the day: calendar, mail, weather.", "plan-the-day-calendar"],
    ["  Say\nhello!  ", "say-hello"],
    ["Überprüfe das Café", "uberprufe-das-cafe"],
    ["water", "water"],
    ["", ""],
    ["اسقِ النباتات", ""],
    ["Internationalization considerations everywhere always", "internationalization"],
    ["x".repeat(100), "x".repeat(32)],
  ] as const;
  for (const [task, name] of cases) expect([task, jobNameOf(task)]).toEqual([task, name]);
});
