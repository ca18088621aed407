/** Commands in a whole gateway, from the API and from the web console: answered without the model, and what they do is seen by it. Real pi. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { asked, endpoint, openSocket, textOf, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

let provider: FakeProvider;
let gateway: GatewayProcess;
let templates: TempHome;
const held = Promise.withResolvers<void>();

beforeAll(async () => {
  provider = await startFakeProvider((request) =>
    asked(request).includes("long story") ? says("Once ", held.promise, "upon a time") : says("noted"),
  );
  templates = await tempHome();
  await writeFile(join(templates.path, "shanty.md"), "Greet $1 with a sea shanty.");
  const config = endpoint(provider);
  const agent = { ...config.agent, promptTemplates: [templates.path] };
  gateway = await startGatewayProcess({ config: { ...config, agent } });
});
afterAll(async () => {
  held.resolve();
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await templates?.[Symbol.asyncDispose]();
});

const say = async (text: string, session: string): Promise<string> => {
  const { body } = await gateway.chat(text, { session });
  return body.content ?? JSON.stringify(body);
};

/** Everything the model was shown with the newest request that asked this. */
const shownWith = (words: string): string =>
  (provider.requests.findLast((request) => asked(request).includes(words))?.messages ?? [])
    .filter(({ role }) => role === "user" || role === "assistant")
    .map(({ content }) => textOf(content))
    .join("\n");

describe("a command", () => {
  test("over the API is answered by the gateway; the model is not asked, and both stand in the transcript", async () => {
    const before = provider.requests.length;
    expect(await say("/STATUS", "looking")).toContain("Model: fake/fake-1");
    expect(await say("/help", "looking")).toContain("`/sessions [words]`");
    expect(provider.requests).toHaveLength(before);
    const items = await transcript(gateway, "looking");
    expect(items.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });

  test("knows what the last answer cost and how full the context is", async () => {
    expect(await say("/context", "counting")).toContain("known after the next answer");
    await say("hello", "counting");
    expect(await say("/context", "counting")).toMatch(/^Context: \d+\.\d% of .* tokens, 2 messages/);
    expect(await say("/usage", "counting")).toMatch(/^- This conversation: 10 tokens in, 5 out/);
    expect(await say("/model", "counting")).toStartWith("Model: fake/fake-1.");
    expect(await say("/sessions counting", "counting")).toContain("agent:default:api:dm:counting");
  });

  test("that does not exist is answered with the nearest name; the model gets paths, two slashes and prompt templates", async () => {
    const before = provider.requests.length;
    expect(await say("/nonsense of mine", "words")).toContain("There is no command `/nonsense`.");
    expect(await say("/stats", "words")).toContain("Did you mean `/status`?");
    expect(await say("/start", "words")).toStartWith("Hello.");
    expect(provider.requests).toHaveLength(before);
    await say("/usr/bin/x is broken", "words");
    await say("//help of mine", "words");
    expect(shownWith("/help of mine")).toContain("/usr/bin/x is broken");
    expect(shownWith("/help of mine")).not.toContain("//help");
    expect(shownWith("/help of mine")).not.toContain("/nonsense");
    await say("/shanty Ann", "words");
    expect(shownWith("sea shanty")).toContain("Greet Ann with a sea shanty.");
  });
});

describe("/reset", () => {
  test("really empties the memory: the model is shown nothing of before", async () => {
    await say("my cat is called Mog", "cats");
    await say("do you remember?", "cats");
    expect(shownWith("do you remember?")).toContain("Mog");
    expect(await say("/reset", "cats")).toContain("A new conversation begins here.");
    await say("and do you still know?", "cats");
    expect(shownWith("and do you still know?")).toEndWith("\n\nand do you still know?");
    expect(shownWith("and do you still know?")).not.toContain("called Mog");
    expect((await transcript(gateway, "cats"))[0]?.text).toBe("my cat is called Mog");
  });
});

describe("/stop", () => {
  test("from the web console ends an answer that is being written, at once", async () => {
    const socket = await openSocket(gateway);
    const send = (text: string) =>
      socket.request("chat.send", { session: "tales", text, clientId: `tales-${text.length}` });
    await send("a long story, please");
    await socket.until("the first words of the answer", (events) => events.some(({ event }) => event === "turn.delta"));
    await send("/stop");
    await socket.until(
      "the ends of both turns",
      (events) => events.filter(({ event }) => event === "turn.ended").length === 2,
    );
    const shown = () =>
      socket.events.flatMap((frame) =>
        frame.event === "message" && frame.data.item.role === "assistant" ? [frame.data.item.text.trim()] : [],
      );
    await socket.until("three messages", () => shown().length === 3);
    socket.close();
    expect(shown()).toEqual(["Once", "Stopped.", "Stopped."]);
    expect(await say("/stop", "quiet")).toBe("Nothing was running.");
  });
});
