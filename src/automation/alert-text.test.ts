/** What an owner reads about a job that fails. */
import { expect, test } from "bun:test";
import { alertText } from "./alert-text.ts";

test("the owner reads what happened to a job, why, and what to do", () => {
  const alert = { id: "a", jobId: "tea", failures: 2, because: "The key was refused.", at: 0 };
  expect(alertText({ ...alert, kind: "failing" })).toBe(
    "The scheduled job tea failed 2 times in a row: The key was refused. `/cron runs tea` shows its runs, `/cron pause tea` stops it.",
  );
  expect(alertText({ ...alert, kind: "failing", failures: 1 })).toStartWith("The scheduled job tea failed once: ");
  expect(alertText({ ...alert, kind: "disabled", failures: 10 })).toBe(
    "The scheduled job tea failed 10 times in a row and is switched off. The last reason: The key was refused. When that is mended, `/cron resume tea` starts it again.",
  );
  expect(alertText({ ...alert, kind: "recovered" })).toBe("The scheduled job tea works again.");
});
