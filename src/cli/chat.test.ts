import { describe, expect, test } from "bun:test";
import { deferred } from "../kit/deferred.ts";
import { cliFixture, eventStream, fakeGateway, input } from "../testing/cli-fixture.ts";

async function* answer(...events: (readonly [string, unknown])[]): AsyncGenerator<readonly [string, unknown]> {
  yield* events;
}
const done = (content: string) => ["done", { content, tool_calls: [] }] as const;

describe("chat with text", () => {
  test("shows the answer while it is being written", async () => {
    await using fx = await cliFixture();
    const gate = deferred<void>();
    async function* slowly(): AsyncGenerator<readonly [string, unknown]> {
      yield ["accepted", { id: "in_1" }];
      yield ["delta", { text: "Hel" }];
      await gate.promise;
      yield ["delta", { text: "lo" }];
      yield done("Hello");
    }
    const seen: unknown[] = [];
    await using _gateway = await fakeGateway(fx.home, async (request, url) => {
      seen.push([request.method, url.pathname, await request.json(), request.headers.get("idempotency-key")]);
      return eventStream(slowly());
    });
    const running = fx.run("chat", "say", "hello", "--session", "notes");
    await fx.printed("Hel");
    expect(fx.out()).toBe("Hel");
    gate.resolve();
    expect(await running).toBe(0);
    expect(fx.out()).toBe("Hello\n");
    expect(seen).toEqual([["POST", "/api/chat", { text: "say hello", stream: true, session: "notes" }, "cli_000001"]]);
  });

  test("keeps control characters of the answer away from the terminal", async () => {
    await using fx = await cliFixture();
    await using _gateway = await fakeGateway(fx.home, () =>
      eventStream(answer(["delta", { text: "a\u001b[2Jb\n\u202ec" }], done("a\u001b[2Jb\n\u202ec"))),
    );
    await fx.run("chat", "x");
    expect(fx.out()).toBe("a\\u001b[2Jb\n\\u202ec\n");
  });

  test("shows the final answer when it differs from what was streamed, as after a second attempt", async () => {
    await using fx = await cliFixture();
    await using _gateway = await fakeGateway(fx.home, () =>
      eventStream(answer(["delta", { text: "Half an ans" }], done("The whole answer"))),
    );
    expect(await fx.run("chat", "x")).toBe(0);
    expect(fx.out()).toBe("Half an ans\nThe whole answer\n");
  });

  test("says what the assistant asks, and how to answer it", async () => {
    await using fx = await cliFixture();
    const question = { kind: "confirm", title: "Sure\u202e?" };
    const asked = ["question", { id: "q1", question, end: null }] as const;
    const over = ["question", { id: "q1", question, end: { how: "answered" } }] as const;
    await using _gateway = await fakeGateway(fx.home, () => eventStream(answer(asked, over, done("ok"))));
    expect(await fx.run("chat", "x")).toBe(0);
    expect([fx.out(), fx.err().match(/asks/g)?.length]).toEqual(["ok\n", 1]);
    expect(fx.err()).toMatch(/The assistant asks: Sure\\u202e\?\n.*pi-gw questions answer q1/);
  });

  test("says what the turn waits for", async () => {
    await using fx = await cliFixture();
    const wait = ["waiting", { until: 1, text: "The provider limits\u202e requests." }] as const;
    await using _gateway = await fakeGateway(fx.home, () => eventStream(answer(wait, done("ok"))));
    expect(await fx.run("chat", "x")).toBe(0);
    expect([fx.out(), fx.err()]).toEqual(["ok\n", "The provider limits\\u202e requests.\n"]);
  });

  test("prints every event as one JSON object with --json", async () => {
    await using fx = await cliFixture();
    await using _gateway = await fakeGateway(fx.home, () =>
      eventStream(answer(["delta", { text: "a\nb" }], done("a\nb"))),
    );
    expect(await fx.run("chat", "x", "--json")).toBe(0);
    expect(
      fx
        .out()
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { event: "delta", data: { text: "a\nb" } },
      { event: "done", data: { content: "a\nb", tool_calls: [] } },
    ]);
  });

  test("says in a sentence that the gateway went away in the middle of the answer", async () => {
    await using fx = await cliFixture();
    async function* cutShort(): AsyncGenerator<readonly [string, unknown]> {
      yield ["delta", { text: "Half" }];
      await fx.printed("Half");
      throw new Error("cut on purpose");
    }
    await using _gateway = await fakeGateway(fx.home, () => eventStream(cutShort()));
    expect(await fx.run("chat", "x")).toBe(1);
    expect(fx.err()).toContain("The gateway went away in the middle of the answer.");
    expect(fx.err()).not.toContain("ECONNRESET");
  });

  test("ends with 1 and the gateway's words when the turn fails", async () => {
    await using fx = await cliFixture();
    await using _gateway = await fakeGateway(fx.home, () =>
      eventStream(
        answer(["delta", { text: "Half" }], ["error", { code: "agent_timeout", message: "It took too long." }]),
      ),
    );
    expect(await fx.run("chat", "x")).toBe(1);
    expect(fx.out()).toBe("Half\n");
    expect(fx.err()).toBe("It took too long.\n");
  });

  test("says so when the gateway refuses the message", async () => {
    await using fx = await cliFixture();
    await using _gateway = await fakeGateway(fx.home, () =>
      Response.json({ error: { code: "queue_full", message: "Too many messages are waiting." } }, { status: 429 }),
    );
    expect(await fx.run("chat", "x")).toBe(1);
    expect(fx.err()).toBe("Too many messages are waiting.\n");
  });

  test("says so when the connection ends before the answer does", async () => {
    await using fx = await cliFixture();
    await using _gateway = await fakeGateway(fx.home, () => eventStream(answer(["delta", { text: "Half" }])));
    expect(await fx.run("chat", "x")).toBe(1);
    expect(fx.err()).toContain("ended before the answer was complete");
  });

  test("stops the running turn on Ctrl-C and waits for its end", async () => {
    await using fx = await cliFixture();
    const aborted = deferred<void>();
    const paths: string[] = [];
    async function* untilAborted(): AsyncGenerator<readonly [string, unknown]> {
      yield ["delta", { text: "Once upon" }];
      await aborted.promise;
      yield ["error", { code: "aborted", message: "Stopped." }];
    }
    await using _gateway = await fakeGateway(fx.home, (_request, url) => {
      paths.push(url.pathname);
      if (url.pathname === "/api/chat") return eventStream(untilAborted());
      aborted.resolve();
      return Response.json({ aborted: true });
    });
    const running = fx.run("chat", "story", "--session", "s1");
    await fx.printed("Once upon");
    fx.interrupt();
    expect(await running).toBe(1);
    expect(fx.err()).toBe("Stopped.\n");
    expect(paths).toEqual(["/api/chat", "/api/sessions/agent%3Adefault%3Aapi%3Adm%3As1/abort"]);
  });

  test("leaves at once on a second Ctrl-C", async () => {
    await using fx = await cliFixture();
    async function* never(): AsyncGenerator<readonly [string, unknown]> {
      yield ["delta", { text: "Once upon" }];
      await new Promise(() => undefined);
    }
    await using _gateway = await fakeGateway(fx.home, (_request, url) =>
      url.pathname === "/api/chat" ? eventStream(never()) : Response.json({ aborted: true }),
    );
    const running = fx.run("chat", "story");
    await fx.printed("Once upon");
    fx.interrupt();
    fx.interrupt();
    expect(await running).toBe(1);
    expect(fx.err()).toContain("may still be running");
  });
});

describe("chat without text", () => {
  test("sends every line of its input and shows the answers in order", async () => {
    await using fx = await cliFixture({ stdin: input("on", "e\n\ntwo\nthr", "ee") });
    await using _gateway = await fakeGateway(fx.home, async (request) => {
      const { text } = (await request.json()) as { text: string };
      return eventStream(answer(done(`you said ${text}`)));
    });
    expect(await fx.run("chat")).toBe(0);
    expect(fx.out()).toBe("you said one\nyou said two\nyou said three\n");
  });

  test("prompts on a terminal and leaves on Ctrl-C while nothing runs", async () => {
    async function* silent(): AsyncGenerator<string> {
      yield "hi\n";
      await new Promise(() => undefined);
    }
    await using fx = await cliFixture({ stdin: silent(), isTerminal: true });
    await using _gateway = await fakeGateway(fx.home, () => eventStream(answer(done("hello"))));
    const running = fx.run("chat");
    await fx.printed("hello\nyou> ");
    fx.interrupt();
    expect(await running).toBe(0);
    expect(fx.out()).toBe("you> hello\nyou> \n");
  });
});
