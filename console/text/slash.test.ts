import { expect, test } from "bun:test";
import { slashHelp } from "./slash.ts";

const COMMANDS = [
  { name: "new", help: "Begin anew" },
  { name: "name", usage: "[words]", help: "Give it a name" },
  { name: "model", usage: "[name]", help: "Which model answers" },
  { name: "resume", help: "Go back" },
];
const chosen = (text: string) => {
  const help = slashHelp(COMMANDS, text);
  return help?.kind === "choose" ? help.items.map(({ name }) => name) : help;
};

test("commands that begin like the text come before those that only contain it", () => {
  expect(chosen("/")).toEqual(["new", "name", "model", "resume"]);
  expect(chosen("/M")).toEqual(["model", "name", "resume"]);
  expect(chosen("/ne")).toEqual(["new"]);
});

test("a command with a space after its name is known, and one that nobody has is unknown", () => {
  expect(slashHelp(COMMANDS, "/MODEL fast")).toMatchObject({ kind: "known", command: { name: "model" } });
  expect(slashHelp(COMMANDS, "/modle")).toEqual({ kind: "unknown", name: "modle" });
  expect(slashHelp(COMMANDS, "/modle fast")).toEqual({ kind: "unknown", name: "modle" });
});

test.each(["", "hello", "//help", "/usr/bin is full", "/new.", "say /new", " /new"])(
  "text that is no command gets no help: %p",
  (text) => expect(slashHelp(COMMANDS, text)).toBeNull(),
);
