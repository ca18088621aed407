import { expect, test } from "bun:test";
import { nameTools } from "./tool-names.ts";

test.each([
  ["brave-search", "brave_web_search", "brave-search_brave_web_search"],
  ["GitHub", "createIssue", "GitHub_createIssue"],
  ["a.b/c", "list-tasks!", "a_b_c_list-tasks"],
  ["7zip", "open", "zip_open"],
  ["日本", "語", "tool"],
])("%s and %s become a name that every provider takes", (server, name, made) => {
  expect(nameTools([{ server, name }])).toEqual([made]);
});

test("two tools whose names differ in case alone are told apart", () => {
  const names = nameTools(["list", "List", "LIST"].map((name) => ({ server: "a", name })));
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(3);
});

test("two tools that would meet are told apart, and the first keeps its name", () => {
  const [first, second] = nameTools([
    { server: "a", name: "b_c" },
    { server: "a_b", name: "c" },
  ]);
  expect(first).toBe("a_b_c");
  expect(second).toMatch(/^a_b_c_[0-9a-f]{6}$/);
});

test("a name that is too long is cut, stays its own, and is the same at each start", () => {
  const long = ["x", "y"].map((end) => ({ server: "server", name: `${"very_".repeat(20)}${end}` }));
  const names = nameTools(long);
  expect(names.map(({ length }) => length)).toEqual([64, 64]);
  expect(new Set(names).size).toBe(2);
  expect(nameTools(long)).toEqual(names);
});
