import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { MESSAGE_INDEX } from "../../migrations/037-session-care.ts";
import { wordMatcher } from "./word-match.ts";

const TEXTS = [
  ...["the harbour at night", "Harbours, and boats!", "an e-mail about harbour2", "Café Über Ñandú", "cafeteria"],
  ...["schönes Wetter", "日本語 text", "snake_case_name", "1,000 boats", "x".repeat(300), "", "...", "naïve—boat"],
];
const QUERIES = [
  "harbour",
  "HARB",
  "cafe",
  "café",
  "uber",
  "schon",
  "日本",
  "case",
  "name",
  "1",
  "000",
  "boat",
  "nai",
  "xx",
];

test.each(QUERIES)("the word %p is found in the same texts as by the full-text index", (word) => {
  using db = new Database(":memory:");
  db.run(MESSAGE_INDEX);
  TEXTS.forEach((text, at) => db.run("insert into message_index (rowid, text) values (?, ?)", [at + 1, text]));
  const indexed = db
    .query<{ rowid: number }, [string]>("select rowid from message_index where message_index match ? order by rowid")
    .all(`"${word}"*`)
    .map(({ rowid }) => TEXTS[rowid - 1]);
  const matches = wordMatcher([word]);
  expect(TEXTS.filter((text) => matches?.(text))).toEqual(indexed.map(String));
});

test("several words have to be in a text together", () => {
  const matches = wordMatcher(["night", "harb"]);
  expect(TEXTS.filter((text) => matches?.(text))).toEqual(["the harbour at night"]);
});

test.each(["e-mail", "a.b", "c++"])("%p is left to the index, which takes it for several words", (word) => {
  expect(wordMatcher([word])).toBeNull();
});
