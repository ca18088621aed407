/** Which tools a session gets, row by row. */
import { expect, test } from "bun:test";
import { chooseTools, sourcesOf } from "./choose.ts";

const builtIn = ["add_task", "tool_search", "cron"].map((name) => ({ name, plugin: "gateway" }));
const brought = ["a", "b", "c", "d"].map((name) => ({ name, plugin: "letters" }));
const without = (gone: string) => [...builtIn, ...brought].filter(({ name }) => name !== gone);

const ALL = { tools: [...builtIn, ...brought], session: [], searchAbove: 3, live: true };
const EVERY_NAME = ["add_task", "cron", "a", "b", "c", "d"];

const BUILT_IN = ["add_task", "tool_search", "cron"];

test.each([
  ["as many tools as the limit are all offered, without a search", { searchAbove: 6 }, EVERY_NAME, "no more than 6"],
  ["one more is enough: the built-in ones and the search are offered", { searchAbove: 5 }, BUILT_IN, "more than 5"],
  ["tools of the session come last, as they came", { session: ["d", "b"] }, [...BUILT_IN, "d", "b"], "more than 3"],
  [
    "a tool of the session that is gone, named twice or built in changes nothing",
    { session: ["gone", "d", "cron", "d"] },
    [...BUILT_IN, "d"],
    "more than 3",
  ],
  ["a caller who may not search is offered all", { tools: without("tool_search") }, EVERY_NAME, "may not be used"],
  ["a process that takes no tools during a turn is offered all", { live: false }, EVERY_NAME, "in the same turn"],
  ["built-in tools alone are all offered", { tools: builtIn, searchAbove: 1 }, ["add_task", "cron"], "built in"],
  ["nothing to choose from is nothing", { tools: [] }, [], "no more than 3"],
])("%s", (_title, asked, expected, because) => {
  const { tools, ...others } = { ...ALL, ...asked };
  const { offered, behindSearch, because: said } = chooseTools({ tools, ...others });
  expect(offered.map(({ name }) => name)).toEqual(expected);
  const rest = tools.map(({ name }) => name).filter((name) => !expected.includes(name) && name !== "tool_search");
  expect(behindSearch).toEqual(rest);
  expect(said).toContain(because);
});

test("each tool is offered with the reason", () => {
  const reasons: readonly string[] = chooseTools({ ...ALL, session: ["b"] }).offered.map(({ because }) => because);
  expect(reasons).toEqual(["built in", "built in", "built in", "of this session"]);
});

test("the search says where other tools come from: each plugin once, in one order, and not without end", () => {
  const more = [{ name: "z", plugin: "animals" }];
  expect(sourcesOf([...ALL.tools, ...more])).toBe("animals, letters");
  expect(sourcesOf([...more, ...ALL.tools])).toBe("animals, letters");
  const many = Array.from({ length: 500 }, (_, n) => ({ name: `t${n}`, plugin: `plugin-${n}` }));
  expect(sourcesOf(many).length).toBeLessThan(610);
});
