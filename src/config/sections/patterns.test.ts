/** Every form that a text or a name in the configuration may have, at its borders: what it takes, and what is one sign off. */
import { expect, test } from "bun:test";
import { asSchemaNode, rootSchema, type SchemaNode } from "../schema-node.ts";

/** By where they stand first in the schema; `{}`: the name of an entry. */
function patternsIn(node: SchemaNode, path: string, found: Map<string, string>): ReadonlyMap<string, string> {
  const note = (pattern: string, at: string) => void (found.has(pattern) || found.set(pattern, at));
  if (node.pattern !== undefined) note(node.pattern, path);
  for (const [key, below] of Object.entries(node.properties ?? {}))
    patternsIn(below, path === "" ? key : `${path}.${key}`, found);
  for (const [pattern, below] of Object.entries(node.patternProperties ?? {})) {
    note(pattern, `${path}{}`);
    patternsIn(below, `${path}.NAME`, found);
  }
  if (node.items) patternsIn(node.items, `${path}[]`, found);
  for (const one of node.anyOf ?? []) patternsIn(asSchemaNode(one), path, found);
  return found;
}

const PATTERNS = new Map([...patternsIn(rootSchema(), "", new Map())].map(([pattern, path]) => [path, pattern]));
const as = (count: number): string => "a".repeat(count);

interface Texts {
  readonly fits: readonly string[];
  readonly not: readonly string[];
}

const PRINCIPALS: Texts = {
  fits: ["operator", "telegram:user:1", "a-b2:user:x.y", `a:user:${as(190)}`],
  not: ["", "owner", "operators", "Telegram:user:1", "1a:user:1", "a:user:", "a:user:b c", "a:user:b:c", "a:group:1"],
};

const TEXTS: Readonly<Record<string, Texts>> = {
  "gateway.bind": {
    fits: ["loopback", "lan", "0.0.0.0", "::1", "fe80::A"],
    not: ["", "localhost", "lan ", "wlan", "1.2.3.4:80x", "::g"],
  },
  "gateway.stopGraceMs": {
    fits: ["0ms", "30s", "5m", "12h", "7d", "100000s"],
    not: ["", "30", "s", "1.5h", "-1s", "1 s", "1w", "1sec", "x1s", "1S"],
  },
  "agent.model": {
    fits: ["anthropic/claude", "a/b/c", "a/b:free"],
    not: ["", "claude", "/b", "a/", "a b/c", "a/b c", "a/b\n"],
  },
  "agent.tools[]": {
    fits: ["read", "_x", "9", "a-b", as(64)],
    not: ["", "-a", "a.b", "a*", "a b", as(65)],
  },
  "agent.network.allow[]": {
    fits: ["a", "a.example", "*.a.example", "A-b.c:1", "a:65535", as(253)],
    not: ["", "*", "*.", ".a", "a.", "-a", "a-", "a_b", "a:", "a:123456", "https://a", "a/b", "a.*.b", as(254)],
  },
  "agent.delegates[]": { fits: ["a", "-", "a-1", as(64)], not: ["", "A", "a_b", "a.b", as(65)] },
  "agents[].heartbeat.activeHours.start": {
    fits: ["00:00", "09:59", "19:00", "20:00", "23:59", "24:00"],
    not: ["", "24:01", "25:00", "9:00", "09:60", "09:5", "x09:00", "09:00x", "24:00x", "0900"],
  },
  "bindings[].peer": PRINCIPALS,
  "roles.owners[]": {
    fits: ["telegram:user:1", "a-b2:user:x.y"],
    not: ["", "operator", "Telegram:user:1", "1a:user:1", "a:user:", "a:user:b c", "a:user:b:c", "a:group:1"],
  },
  "session.identityLinks{}": { fits: ["a", "0", "a_b-c", as(64)], not: ["", "_a", "-a", "A", "a.b", as(65)] },
  "channels.telegram.accounts{}": { fits: ["a", "0", "a_b-c", as(32)], not: ["", "_a", "-a", "A", "a.b", as(33)] },
  "channels.telegram.accounts.NAME.allowFrom[]": {
    fits: ["*", "1", "telegram:user:1", `1${"0".repeat(15)}`],
    not: ["", "**", "0", "01", "-1", "a", "discord:user:1", "telegram:user:", `1${"0".repeat(16)}`],
  },
  "channels.telegram.accounts.NAME.groups{}": {
    fits: ["-1", "-1001234567890", `-${"9".repeat(20)}`],
    not: ["", "-", "1", "--1", "-1a", `-${"9".repeat(21)}`],
  },
  "channels.telegram.apiRoot": { fits: ["http://a", "https://a"], not: ["", "ftp://a", "httpx://a", " http://a", "a"] },
  "channels.telegram.webhookUrl": { fits: ["https://a"], not: ["", "http://a", " https://a", "https:/a", "a"] },
  "channels.discord.applicationId": {
    fits: ["1".repeat(17), "1".repeat(20)],
    not: ["", "1".repeat(16), "1".repeat(21), `${"1".repeat(17)}a`],
  },
  "channels.discord.publicKey": {
    fits: ["0".repeat(64), "aF".repeat(32)],
    not: ["", "0".repeat(63), "0".repeat(65), "g".repeat(64)],
  },
  "channels.discord.allowFrom[]": {
    fits: ["*", "ann", as(100), "discord:user:1", "a-1:user:x", `d:user:${as(100)}`],
    not: ["", "**", "a b", "a:b", as(101), "Discord:user:1", "d:user:", `d:user:${as(101)}`],
  },
  "cron.jobs[].id": { fits: ["a", "0", "a-b", as(64)], not: ["", "-a", "A", "a_b", as(65)] },
  "budget.principals{}": { fits: ["*", ...PRINCIPALS.fits], not: ["**", ...PRINCIPALS.not, `a:user:${as(191)}`] },
  "tools.webFetch.allow[]": {
    fits: ["*", "a", "a.example", "_a._b", "a-b", "[::1]", "[2606:4700::1.2.3.4]", as(253)],
    not: ["", "**", "*.a", "-a", "a-", "a.", ".a", "::1", "[:]", "[g::]", "a:80", "https://a", as(254)],
  },
  "tools.webFetch.privateOrigins[]": {
    fits: ["http://a", "https://10.0.0.5:8443"],
    not: ["", "ftp://a", "http://", "http://a/", "http://a/b", "http://a b", "a"],
  },
  "tools.allow[]": {
    fits: ["*", "a", "A_b-9", as(64), `${as(63)}*`],
    not: ["", "**", "*a", "a*b", "a.b", as(65), `${as(64)}*`],
  },
  "tools.principals{}": { ...PRINCIPALS, not: [...PRINCIPALS.not, "*", `a:user:${as(191)}`] },
  "tools.limits{}": { fits: ["a", "A_b-9", as(64)], not: ["", "*", "a*", "a.b", as(65)] },
  "media.transcription.baseUrl": { fits: ["http://a", "https://a/v1"], not: ["", "http://", "http://a b", "ftp://a"] },
  "notifications.contact": {
    fits: ["mailto:a@b", "https://a"],
    not: ["", "a@b", "mailto:a", "mailto:a b@c", "mailto:@b", "http://a", "https://", "https://a b", " mailto:a@b"],
  },
  "media.roots[]": { fits: ["/", "/srv"], not: ["", "srv", "./srv", "~/srv"] },
  "mcp.servers{}": { fits: ["a", "a-9", as(32)], not: ["", "9", "-a", "A", "a_b", as(33)] },
  "mcp.servers.NAME.env{}": { fits: ["A", "_", "a9_B", as(128)], not: ["", "9", "A-B", "A B", "A=B", as(129)] },
  "mcp.servers.NAME.headers{}": { fits: ["X", "x-9", as(128)], not: ["", "x_y", "x:", "x y", as(129)] },
  "plugins.pins.NAME": { fits: ["0f".repeat(32)], not: ["", "0F".repeat(32), "0".repeat(63), "0".repeat(65)] },
  "observe.otel.headers{}": { fits: ["X", "x-9", as(64)], not: ["", "x_y", "x:", "x y", as(65)] },
  "observe.otel.serviceName": { fits: ["a", "pi-gateway.1"], not: ["", "a b", " ", "a\n"] },
};

test("every form of the schema has its texts here", () => {
  expect([...PATTERNS.keys()].toSorted()).toEqual(Object.keys(TEXTS).toSorted());
});

test.each(Object.entries(TEXTS))(
  "the form of %s takes what it should, and nothing that is one sign off",
  (path, texts) => {
    const pattern = new RegExp(PATTERNS.get(path) ?? "$^");
    const wrong = (given: readonly string[], fits: boolean) => given.filter((text) => pattern.test(text) !== fits);
    expect({ refused: wrong(texts.fits, true), taken: wrong(texts.not, false) }).toEqual({ refused: [], taken: [] });
  },
);
