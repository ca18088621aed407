/** A model on loopback that repeats what it is told after "echo: ", some of it in two halves with a pause between them. */
import { systemClock } from "../../../src/kit/clock.ts";
import { type FakeReply, type ProviderRequest, says, startFakeProvider } from "../../../src/testing/fake-provider.ts";
import { textOf } from "../../../src/testing/worlds/model-words.ts";

export interface Echo extends AsyncDisposable {
  config(pool: object): object;
}

/** Longer than it takes until a platform shows the first words. */
const PAUSE_MS = 1_800;
const NEVER = new AbortController().signal;

export async function startEcho(): Promise<Echo> {
  const provider = await startFakeProvider(reply);
  const models = [{ id: "echo" }];
  return {
    config: (pool) => ({
      agent: { model: "fake/echo", pool },
      models: { providers: { fake: { baseUrl: provider.baseUrl, apiKey: "a-key-of-chaos-7781", models } } },
    }),
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  };
}

function reply({ messages }: ProviderRequest): FakeReply {
  const asked = textOf(messages.findLast(({ role }) => role === "user")?.content);
  const words = /echo: (.*)/.exec(asked)?.[1] ?? "nobody asked";
  const [head, tail] = words.split(" slowly ");
  if (tail === undefined) return says(words);
  return says(`${head} slowly`, systemClock.sleep(PAUSE_MS, NEVER), ` ${tail}`);
}
