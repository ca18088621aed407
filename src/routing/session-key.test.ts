import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { buildSessionKey, parseSessionText, type SessionName } from "./session-key.ts";

const part = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).filter((text) => text.isWellFormed());
const anyName: fc.Arbitrary<SessionName> = fc.record({
  agent: part,
  channel: part,
  scope: fc.constantFrom("dm" as const, "group" as const),
  id: part,
});

describe("a session key", () => {
  test("reads as agent, channel, scope and id", () => {
    expect(buildSessionKey({ agent: "default", channel: "webchat", scope: "dm", id: "c-1" })).toBe(
      "agent:default:webchat:dm:c-1" as never,
    );
  });

  test("is different whenever any part is different", () => {
    fc.assert(
      fc.property(anyName, anyName, (one, other) => {
        const same = JSON.stringify(one) === JSON.stringify(other);
        return (buildSessionKey(one) === buildSessionKey(other)) === same;
      }),
    );
    expect(buildSessionKey({ agent: "a:b", channel: "c", scope: "dm", id: "d" })).not.toBe(
      buildSessionKey({ agent: "a", channel: "b:c", scope: "dm", id: "d" }),
    );
  });

  test("gives back the parts it was built from", () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const parsed = parseSessionText(buildSessionKey(name), "default");
        expect(parsed).toEqual({ ...name, key: buildSessionKey(name) });
      }),
    );
  });

  test("has one spelling: a different escape of the same parts is refused", () => {
    expect(parseSessionText("agent:default:webchat:dm:%63-1", "default")).toBeNull();
    expect(parseSessionText("agent:default:webchat:dm:a%3ab", "default")).toBeNull();
    expect(parseSessionText("agent:default:webchat:dm:a%3Ab", "default")?.id).toBe("a:b");
  });

  test.each([
    "",
    "agent:",
    "Agent",
    "agent:a:b:dm",
    "agent:a:b:room:c",
    "agent:a:b:dm:c:d",
    "agent::b:dm:c",
    "agent:a:b:dm:%",
    "Ünï",
  ])("is refused when it is malformed: %p", (text) => {
    expect(parseSessionText(text, "default")).toBeNull();
  });

  test("may be a short name, which means a session of the HTTP API", () => {
    expect(parseSessionText("release-notes", "default")?.key).toBe("agent:default:api:dm:release-notes" as never);
  });
});
