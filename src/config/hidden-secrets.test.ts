/** Secrets in the text of a configuration: never shown, kept where they are, written anew when somebody types one. */
import { expect, test } from "bun:test";
import { hideSecrets, restoreSecrets } from "./hidden-secrets.ts";

const FILE = `\ufeff{
  // mine
  "gateway": { "auth": { "token": "a-token-\\"of-22-characters" }, "port": 4000 },
  "channels": { "telegram": { "botToken": "\${BOT}", "accounts": { "work": { "botToken": "12:ab" } } } },
  "models": {
    "keys": { "openai": [{ "value": "sk-1" }, { "value": "sk-2" }] },
    "providers": { "mine": { "baseUrl": "http://ann:pw@host/v1", "apiKey": "k", "models": [{ "id": "m" }] } },
  },
  "hooks": { "keys": { "2026-11": "hook-key-of-22-characters" } },
  "plugins": { "config": { "build": { "password": "x1", "deep": ["x2"], "count": 3 } } },
  "chanels": { "misspelt": "x3" },
}
`;
const SECRETS = ["a-token", "12:ab", "sk-1", "sk-2", "ann:", "pw@", '"k"', "hook-key", "x1", "x2", "x3"];

test("a text that is shown has no secret in it, and everything else as it is written", () => {
  const shown = hideSecrets(FILE) ?? "";
  expect(SECRETS.filter((secret) => shown.includes(secret))).toEqual([]);
  expect(shown).toContain("// mine");
  expect(shown).toContain('"port": 4000');
  expect(shown).toContain('"botToken": "${BOT}"');
  expect(shown).toContain('"id": "m"');
  expect(shown.split("\n")).toHaveLength(FILE.split("\n").length);
});

test("a text that comes back has its secrets again, and new ones where somebody wrote them", () => {
  const shown = hideSecrets(FILE) ?? "";
  expect(restoreSecrets(shown, FILE)).toEqual({ text: FILE, problems: [] });
  const edited = shown
    .replace('"port": 4000', '"port": 4001')
    .replace('[{ "value": "(hidden)" }', '[{ "value": "sk-9" }');
  const back = restoreSecrets(edited, FILE);
  expect(back).toEqual({ text: FILE.replace("4000", "4001").replace("sk-1", "sk-9"), problems: [] });
});

test("a hidden value in a place where the file has none is a problem with its line", () => {
  const { problems } = restoreSecrets('{\n  "hooks": { "token": "(hidden)" }\n}', "{}");
  expect(problems).toEqual([
    {
      path: "hooks.token",
      line: 2,
      column: 23,
      message: "hooks.token is hidden, and the file has no value there that could stay. Write the value itself.",
    },
  ]);
});

test("a text that is not JSONC is not shown, and comes back as it is", () => {
  expect(hideSecrets('{ "gateway": { "auth": { "token": "secret"')).toBeNull();
  expect(restoreSecrets("{ broken", FILE)).toEqual({ text: "{ broken", problems: [] });
});

test.each(["${PART}-and-more", "more-${PART}", "${ONE}${TWO}", "$${PART}", "${}", "${1A}"])(
  "a secret that is more than the name of one variable, %s, is not shown",
  (value) => {
    const text = JSON.stringify({ gateway: { auth: { token: value } } });
    expect(hideSecrets(text)).toBe(JSON.stringify({ gateway: { auth: { token: "(hidden)" } } }));
    expect(hideSecrets(text.replace(value, "${_part2}"))).toContain("${_part2}");
  },
);
