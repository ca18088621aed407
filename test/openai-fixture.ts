/** A real gateway with a played provider, and the official SDK in front of it, for the tests of the OpenAI-compatible door. */
import { afterAll, beforeAll, beforeEach, setDefaultTimeout } from "bun:test";
import OpenAI from "openai";
import {
  type FakeProvider,
  type FakeScript,
  type ProviderRequest,
  says,
  startFakeProvider,
} from "../src/testing/fake-provider.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { endpoint, WHOLE_TEST_MS } from "./whole-fixture.ts";

export interface OpenAiWorld {
  readonly gateway: GatewayProcess;
  readonly provider: FakeProvider;
  readonly client: OpenAI;
  /** What the model was asked in the running test. */
  asked(): readonly ProviderRequest[];
  /** What the provider does in the running test; `index` counts the requests of this test. */
  play(script: FakeScript): void;
}

export const MODEL = "pi-gateway";
export const ask = (content: string) => [{ role: "user" as const, content }];

/** Without retries: what a test asks for once is asked for once. */
export function clientOf({ url, token }: GatewayProcess, options: object = {}): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0, ...options });
}

interface WorldOptions {
  readonly agents?: readonly { readonly id: string }[];
  /** The model takes images. */
  readonly seeing?: boolean;
}

/** One gateway for all tests of a file. */
export function useOpenAiWorld({ agents = [], seeing = false }: WorldOptions = {}): () => OpenAiWorld {
  setDefaultTimeout(WHOLE_TEST_MS);
  let world: OpenAiWorld | null = null;
  let script: FakeScript = () => says("ok");
  let before = 0;
  beforeAll(async () => {
    const provider = await startFakeProvider((request, index) => script(request, index - before));
    const { agent, models } = endpoint(provider);
    const model = { id: "fake-1", input: seeing ? ["text", "image"] : ["text"] };
    const providers = { fake: { ...models.providers.fake, models: [model] } };
    const gateway = await startGatewayProcess({ config: { agent, agents, models: { providers } } });
    world = {
      gateway,
      provider,
      client: clientOf(gateway),
      asked: () => provider.requests.slice(before),
      play(next) {
        script = next;
      },
    };
  });
  beforeEach(() => {
    before = world?.provider.requests.length ?? 0;
    script = () => says("ok");
  });
  afterAll(async () => {
    await world?.gateway[Symbol.asyncDispose]();
    await world?.provider[Symbol.asyncDispose]();
  });
  return () => {
    if (!world) throw new Error("the gateway has not started");
    return world;
  };
}

export async function failure(of: PromiseLike<unknown>): Promise<unknown> {
  try {
    await of;
  } catch (error) {
    return error;
  }
  throw new Error("the request succeeded");
}

export function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  return (content as readonly { text?: string }[] | undefined)?.map(({ text = "" }) => text).join("") ?? "";
}
