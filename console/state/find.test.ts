import { expect, test } from "bun:test";
import { type Entry, findEntries } from "./find.ts";

const entry = (group: string, name: string, detail?: string): Entry => ({
  id: name,
  group,
  name,
  ...(detail === undefined ? {} : { detail }),
});
const names = (entries: readonly Entry[]) => entries.map(({ name }) => name);

test("entries are found by every word that was typed, in any order and case", () => {
  const all = [entry("Views", "System health"), entry("Views", "Health of channels"), entry("Views", "Keys")];
  expect(names(findEntries(all, "CHAN heal"))).toEqual(["Health of channels"]);
  expect(findEntries(all, "nothing like it")).toEqual([]);
});

test("the beginning of a name counts more than the beginning of a word, and the name more than the detail", () => {
  const all = [
    entry("Jobs", "backup", "plan the tea"),
    entry("Jobs", "green tea", "every day"),
    entry("Jobs", "tea", "every hour"),
    entry("Jobs", "steal", "x"),
  ];
  expect(names(findEntries(all, "tea"))).toEqual(["tea", "green tea", "steal", "backup"]);
});

test("groups keep their order, and each shows at most six entries", () => {
  const many = Array.from({ length: 9 }, (_, at) => entry("Conversations", `about ${at}`));
  const found = findEntries([entry("Commands", "About this"), ...many], "");
  expect(names(found)).toEqual(["About this", ...many.slice(0, 6).map(({ name }) => name)]);
});
