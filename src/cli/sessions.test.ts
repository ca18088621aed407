import { describe, expect, test } from "bun:test";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";

const USAGE = { inputTokens: 12, outputTokens: 3, costUsd: 0.25 };
const session = (name: string, more: object = {}) => ({
  key: `agent:default:api:dm:${name}`,
  channel: "api",
  title: `About ${name}\u001b[2J`,
  createdAt: 0,
  lastActivityAt: 0,
  messages: 4,
  usage: USAGE,
  ...more,
});

async function world(next?: string) {
  const asked: string[] = [];
  const fx = await cliFixture();
  const gateway = await fakeGateway(fx.home, (request, { pathname, search }) => {
    asked.push(`${request.method} ${decodeURIComponent(pathname)}${search}`);
    if (pathname.endsWith("/abort")) return Response.json({ aborted: pathname.includes("busy") });
    if (pathname.endsWith("/reset")) return Response.json({ reset: true });
    if (pathname.endsWith("/transcript")) {
      const items = [
        { role: "user", text: "hello\nthere" },
        { role: "tool", tool: "session_status", status: "success" },
        { role: "assistant", text: "hi" },
      ];
      return Response.json({ items });
    }
    if (pathname === "/api/sessions")
      return Response.json({ items: search.includes("none") ? [] : [session("cats")], next });
    if (pathname.includes("missing"))
      return Response.json({ error: { code: "not_found", message: "There is no such session." } }, { status: 404 });
    return Response.json({ session: session("cats", { model: "fake/two", thinking: null }), live: null });
  });
  const end = async () => {
    await gateway[Symbol.asyncDispose]();
    await fx[Symbol.asyncDispose]();
  };
  return { ...fx, asked, [Symbol.asyncDispose]: end };
}

describe("pi-gw sessions", () => {
  test("list shows one line each, safe for a terminal, and says when there are more", async () => {
    await using fx = await world("more");
    expect(await fx.run("sessions", "list", "red", "cats", "-n", "5")).toBe(0);
    expect(fx.asked).toEqual(["GET /api/sessions?limit=5&search=red+cats"]);
    const [head, line, more] = fx.out().split("\n");
    expect(head).toMatch(/^SESSION +TITLE +MESSAGES +LAST$/);
    expect(line).toMatch(/^agent:default:api:dm:cats {2}About cats\\u001b\[2J {2}4 +\S.* ago$/);
    expect(more).toStartWith("There are more");
  });

  test("list --json prints one object per session, and nothing when there are none", async () => {
    await using fx = await world();
    await fx.run("sessions", "list", "--json");
    expect(JSON.parse(fx.out())).toMatchObject({ key: "agent:default:api:dm:cats", usage: USAGE });
    await using none = await world();
    expect(await none.run("sessions", "list", "none")).toBe(0);
    expect(none.out()).toBe("No session matches.\n");
  });

  test("show prints what is known and what was said", async () => {
    await using fx = await world();
    expect(await fx.run("sessions", "show", "cats")).toBe(0);
    expect(fx.asked).toEqual(["GET /api/sessions/cats", "GET /api/sessions/cats/transcript?limit=20"]);
    expect(fx.out()).toContain("model     fake/two\n");
    expect(fx.out()).not.toContain("thinking");
    expect(fx.out()).toContain("usage     12 tokens in, 3 out, $0.2500\n");
    expect(fx.out()).toEndWith("> hello\nthere\n[session_status: success]\nhi\n");
  });

  test("reset and abort say what happened", async () => {
    await using fx = await world();
    await fx.run("sessions", "reset", "agent:default:api:dm:cats");
    await fx.run("sessions", "abort", "busy");
    await fx.run("sessions", "abort", "quiet");
    await fx.run("sessions", "abort", "quiet", "--json");
    expect(fx.asked[0]).toBe("POST /api/sessions/agent:default:api:dm:cats/reset");
    expect(fx.out()).toBe(
      'A new conversation begins there. /resume goes back.\nStopped.\nNothing was running.\n{"aborted":false}\n',
    );
  });

  test("a session that is not there, a missing name and a wrong word end with a sentence and 1", async () => {
    await using fx = await world();
    expect(await fx.run("sessions", "show", "missing")).toBe(1);
    expect(fx.err()).toContain("There is no such session.");
    expect(await fx.run("sessions", "show")).toBe(1);
    expect(await fx.run("sessions", "lits")).toBe(1);
    expect(fx.err()).toContain("Did you mean list?");
  });
});
