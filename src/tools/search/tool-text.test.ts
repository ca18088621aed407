/** How names become words. */
import { expect, test } from "bun:test";
import { queryWords, toolText } from "./tool-text.ts";

const spec = (name: string, parameters: Readonly<Record<string, unknown>> = {}) =>
  toolText({ name, label: name, description: "", parameters }, "servers");

test.each([
  ["send_message", "send message"],
  ["send-message", "send message"],
  ["sendMessage", "sendMessage send Message"],
  ["createGitHubIssue", "createGitHubIssue create Git Hub Issue createGit GitHub HubIssue"],
  ["HTTPServer", "HTTPServer HTTP Server"],
  ["mcp_notion_API-get-users", "mcp notion API get users"],
  ["v2Items", "v2Items v2 Items"],
])("the name %s is the words %j", (name, words) => {
  expect(spec(name).name).toBe(words);
});

test("names of parameters are words as well, also of objects inside, up to a depth", () => {
  const deep = (n: number): Readonly<Record<string, unknown>> =>
    n === 0 ? {} : { type: "object", properties: { [`level${n}`]: deep(n - 1) } };
  const list = { type: "array", items: { type: "object", properties: { dueDate: {} } } };
  expect(spec("x", { type: "object", properties: { list_id: {}, tasks: list } }).parameters).toBe(
    "list id tasks dueDate due Date",
  );
  expect(spec("x", deep(30)).parameters).toBe("level30 level29 level28 level27 level26");
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`p${n}`, {}]));
  expect(spec("x", { properties: many }).parameters.split(" ")).toHaveLength(200);
});

test("a question is its words, each once, and not without end", () => {
  expect(queryWords("Create a calendar-event, createEvent!")).toEqual([
    ...["create", "a", "calendar", "event", "createevent"],
  ]);
  expect(queryWords("re\u0301sume\u0301")).toEqual(["r\u00e9sum\u00e9"]);
  expect(queryWords(" … ")).toEqual([]);
  expect(queryWords(Array.from({ length: 100 }, (_, n) => `w${n}`).join(" "))).toHaveLength(24);
});

test("of a description that never ends the first 4,000 characters are found", () => {
  const parameters = { type: "object", properties: {} };
  const { description } = toolText({ name: "a", label: "a", description: "x".repeat(10_000), parameters }, "p");
  expect(description).toHaveLength(4_000);
});
