import { expect, test } from "bun:test";
import { sandboxCheck } from "./sandbox-check.ts";

const finding = { because: "Why.", leaks: ["One.", "Two."], advice: "Do this." };

test.each([
  ["auto", "full", "ok", "full: Why. It does not hold: One. Two. Do this."],
  ["required", "basic", "note", "basic: Why. It does not hold: One. Two. Do this."],
  ["auto", "none", "note", "Why. Agents run without pi tools (shell and files). Do this."],
  ["required", "none", "broken", "Why. Agents do not start. Do this."],
  [
    "off",
    "full",
    "note",
    'agent.sandbox is "off": a shell of an agent can do whatever your user can. Set it to "auto".',
  ],
] as const)("the sandbox with the setting %s in the tier %s is %s: %s", (setting, tier, state, say) => {
  const { state: found, say: said } = sandboxCheck({ setting, tier, ...finding });
  expect([found, said]).toEqual([state, say]);
});
