import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { buildSessionKey, parseSessionText, type Peer, type SessionName } from "./session-key.ts";

/** Short and from a small alphabet as well, because names that resemble the words of a key are the dangerous ones. */
const part = fc.oneof(
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).filter((text) => text.isWellFormed()),
  fc.constantFrom("a", "b", "dm", "group", "topic", "main", "agent", "@a", "a:dm", "a:b", "%3A", "@"),
);
const peer: fc.Arbitrary<Peer> = fc.oneof(fc.record({ id: part }), fc.record({ person: part }));
const chatName: fc.Arbitrary<SessionName> = fc.record(
  {
    form: fc.constant("chat" as const),
    agent: part,
    channel: part,
    account: part,
    scope: fc.constantFrom("dm" as const, "group" as const),
    peer,
    thread: part,
  },
  { requiredKeys: ["form", "agent", "channel", "scope", "peer"] },
);
const anyName: fc.Arbitrary<SessionName> = fc.oneof(
  fc.record({ form: fc.constant("main" as const), agent: part }),
  fc.record({ form: fc.constant("peer" as const), agent: part, peer }),
  chatName,
);
const chat = (changes: Partial<Extract<SessionName, { form: "chat" }>> = {}): SessionName => ({
  form: "chat",
  agent: "default",
  channel: "telegram",
  scope: "dm",
  peer: { id: "1" },
  ...changes,
});
const canonical = (value: object): string => JSON.stringify(value, Object.keys(flat(value)).sort());
const flat = (value: object): object =>
  Object.assign({}, value, ...Object.values(value).filter((one) => Object(one) === one));

describe("a session key", () => {
  test.each([
    [chat({ channel: "webchat", peer: { id: "c-1" } }), "agent:default:webchat:dm:c-1"],
    [chat({ scope: "group", peer: { id: "-100" }, thread: "7" }), "agent:default:telegram:group:-100:topic:7"],
    [chat({ account: "work" }), "agent:default:telegram:work:dm:1"],
    [chat({ account: "work", thread: "7" }), "agent:default:telegram:work:dm:1:topic:7"],
    [chat({ peer: { person: "alice" } }), "agent:default:telegram:dm:@alice"],
    [chat({ peer: { id: "@alice" } }), "agent:default:telegram:dm:%40alice"],
    [{ form: "main", agent: "default" }, "agent:default:main"],
    [{ form: "peer", agent: "default", peer: { id: "telegram:user:1" } }, "agent:default:dm:telegram%3Auser%3A1"],
    [{ form: "peer", agent: "default", peer: { person: "alice" } }, "agent:default:dm:@alice"],
  ] as const)("of %j reads %s", (name, key) => {
    expect(String(buildSessionKey(name))).toBe(key);
  });

  test("is different whenever any part is different", () => {
    fc.assert(
      fc.property(anyName, anyName, (one, other) => {
        const same = canonical(one) === canonical(other);
        return (buildSessionKey(one) === buildSessionKey(other)) === same;
      }),
      { numRuns: 2_000 },
    );
    expect(buildSessionKey(chat({ agent: "a:b", channel: "c" }))).not.toBe(
      buildSessionKey(chat({ agent: "a", channel: "b:c" })),
    );
  });

  test("gives back the parts it was built from", () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const key = buildSessionKey(name);
        fc.pre(key.length <= 512); // longer ones are not read
        expect(parseSessionText(key, "default")).toEqual({ name, key });
      }),
      { numRuns: 1_000 },
    );
  });

  test("has one spelling: a different escape of the same parts is refused", () => {
    expect(parseSessionText("agent:default:webchat:dm:%63-1", "default")).toBeNull();
    expect(parseSessionText("agent:default:webchat:dm:a%3ab", "default")).toBeNull();
    expect(parseSessionText("agent:default:webchat:dm:a%3Ab", "default")?.name).toMatchObject({ peer: { id: "a:b" } });
  });

  test.each([
    "",
    "agent:",
    "Agent",
    "agent:a",
    "agent:a:b",
    "agent:a:b:dm",
    "agent:a:b:room:c",
    "agent:a:b:dm:c:d",
    "agent:a:b:dm:c:thread:d",
    "agent:a:b:dm:c:topic:",
    "agent:a:main:topic:1",
    "agent:a:dm:b:topic:1",
    "agent:a:b::dm:c",
    "agent:a:b:dm:@",
    "agent::b:dm:c",
    "agent:a:b:dm:%",
    "Ünï",
  ])("is refused when it is malformed: %p", (text) => {
    expect(parseSessionText(text, "default")).toBeNull();
  });

  test("may be a short name, which means a session of the HTTP API", () => {
    expect(parseSessionText("release-notes", "default")?.key).toBe("agent:default:api:dm:release-notes" as never);
    expect(parseSessionText("release-notes", "research")?.key).toBe("agent:research:api:dm:release-notes" as never);
  });
});
