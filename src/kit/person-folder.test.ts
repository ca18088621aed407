import { expect, test } from "bun:test";
import { personFolder } from "./person-folder.ts";

test("the folder of a person can be read, stays below the shared one and is nobody else's", () => {
  expect(personFolder("/w", "telegram:user:7")).toMatch(/^\/w\/people\/telegram-user-7-[0-9a-f]{12}$/);
  const names = ["a:b", "a-b", "A:b", "../../etc", "a/b", "", "x".repeat(500), "x".repeat(501)].map((one) =>
    personFolder("/w", one),
  );
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^\/w\/people\/[a-z0-9-]{12,60}$/);
});
