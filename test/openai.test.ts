/** The OpenAI-compatible door as its users have it: the official SDK against a real gateway with real pi and a played provider. */
import { describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { says } from "../src/testing/fake-provider.ts";
import { ask, clientOf, failure, MODEL, textIn, useOpenAiWorld } from "./openai-fixture.ts";
import { keyOf, transcript } from "./whole-fixture.ts";

const world = useOpenAiWorld({ agents: [{ id: "research" }] });

async function sessions(): Promise<readonly string[]> {
  const listed = (await (await world().gateway.fetch("/api/sessions")).json()) as { items: { key: string }[] };
  return listed.items.map(({ key }) => key);
}

describe("models", () => {
  test("are the agents of the gateway", async () => {
    const ids = (await world().client.models.list()).data.map(({ id }) => id);
    expect(ids).toEqual(["pi-gateway", "pi-gateway/default", "pi-gateway/research"]);
    expect((await world().client.models.retrieve("pi-gateway/research")).object).toBe("model");
    const unknown = await failure(world().client.models.retrieve("gpt-9"));
    expect(unknown).toBeInstanceOf(OpenAI.NotFoundError);
    expect(unknown).toMatchObject({ code: "model_not_found", param: "model" });
  });
});

describe("a completion without a session", () => {
  test("is built from the messages given, and leaves no listed session behind", async () => {
    world().play(() => ({ kind: "text", pieces: ["Grace ", "Hopper"], usage: { inputTokens: 21, outputTokens: 4 } }));
    const listed = await sessions();
    const completion = await world().client.chat.completions.create({
      model: MODEL,
      messages: [
        { role: "system", content: "Answer in two words." },
        { role: "user", content: "My name is Ada." },
        { role: "assistant", content: "Hello Ada." },
        { role: "user", content: "Who wrote the first compiler?" },
      ],
      temperature: 0.2,
      max_tokens: 50,
    });
    expect(completion.choices).toEqual([
      {
        index: 0,
        message: { role: "assistant", content: "Grace Hopper", refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ]);
    expect(completion).toMatchObject({ object: "chat.completion", model: "pi-gateway" });
    expect(completion.usage).toMatchObject({ prompt_tokens: 21, completion_tokens: 4, total_tokens: 25 });
    const [first] = world().asked();
    const said = first?.messages.map(({ role, content }) => [role, textIn(content)]) ?? [];
    expect(said.filter(([role]) => role !== "system" && role !== "developer")).toEqual([
      ["user", "My name is Ada."],
      ["assistant", "Hello Ada."],
      ["user", "Who wrote the first compiler?"],
    ]);
    expect(textIn(first?.messages[0]?.content)).toContain("Answer in two words.");
    expect(await sessions()).toEqual(listed);
  });

  test("knows nothing of the one before it, nor its instructions", async () => {
    await world().client.chat.completions.create({
      model: MODEL,
      messages: [{ role: "system", content: "Speak like a pirate." }, ...ask("first secret")],
    });
    await world().client.chat.completions.create({ model: "pi-gateway/default", messages: ask("second") });
    const last = JSON.stringify(world().asked().at(-1)?.messages);
    expect(last).not.toContain("pirate");
    expect(last).not.toContain("first secret");
  });

  test("is streamed as role, words, end, usage and [DONE]", async () => {
    world().play(() => ({ kind: "text", pieces: ["one ", "two"], usage: { inputTokens: 7, outputTokens: 2 } }));
    const stream = await world().client.chat.completions.create({
      model: MODEL,
      messages: ask("count"),
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks[0]?.choices[0]?.delta).toMatchObject({ role: "assistant", content: "" });
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("one two");
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop");
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 7, total_tokens: 9 } });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    const raw = await world().gateway.fetch("/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: MODEL, messages: ask("count"), stream: true }),
    });
    const text = await raw.text();
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(text).not.toContain('"usage"');
  });

  test("adds up to the same answer in the SDK's own stream helper", async () => {
    world().play(() => says("piece ", "by ", "piece"));
    const runner = world().client.chat.completions.stream({ model: MODEL, messages: ask("go") });
    expect(await runner.finalContent()).toBe("piece by piece");
  });

  test("of two clients at once gives each its own answer", async () => {
    world().play(({ messages }) => says(`to ${textIn(messages.at(-1)?.content)}`));
    const other = clientOf(world().gateway);
    const answers = await Promise.all(
      [world().client, other].map((one, at) =>
        one.chat.completions.create({ model: MODEL, messages: ask(`client ${at}`) }),
      ),
    );
    expect(answers.map(({ choices }) => choices[0]?.message.content)).toEqual(["to client 0", "to client 1"]);
  });
});

describe("a completion with a session", () => {
  test("of the same user goes on where the last one ended, and is a listed session", async () => {
    const model = MODEL;
    await world().client.chat.completions.create({ model, user: "ada", messages: ask("remember the number 42") });
    await world().client.chat.completions.create({ model, user: "ada", messages: ask("which number?") });
    expect(JSON.stringify(world().asked().at(-1)?.messages)).toContain("remember the number 42");
    expect(await sessions()).toContain(keyOf("openai-ada"));
    const texts = (await transcript(world().gateway, "openai-ada")).map(({ text }) => text);
    expect(texts).toEqual(["remember the number 42", "ok", "which number?", "ok"]);
  });

  test("of a header is that session, and one of another channel is refused", async () => {
    const headers = { "X-Session-Key": "shared-notes" };
    await world().client.chat.completions.create({ model: MODEL, messages: ask("hello") }, { headers });
    expect((await transcript(world().gateway, "shared-notes")).map(({ text }) => text)).toEqual(["hello", "ok"]);
    const elsewhere = { headers: { "X-Session-Key": "agent:default:telegram:dm:5" } };
    const refused = await failure(
      world().client.chat.completions.create({ model: MODEL, messages: ask("hi") }, elsewhere),
    );
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
  });

  test("is streamed, too", async () => {
    world().play(() => says("one ", "two"));
    const stream = world().client.chat.completions.stream({ model: MODEL, user: "stream", messages: ask("count") });
    expect(await stream.finalContent()).toBe("one two");
  });
});
