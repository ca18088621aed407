/** One pool of real agents for several tests. Each test has the provider and the gate to itself, and a conversation of its own; only the processes are shared. */
import type { Config } from "../config/index.ts";
import { type AgentConfig, type AgentFixture, agentFixture, providers } from "./agent-fixture.ts";
import { type FakeProvider, type FakeScript, type ProviderRequest, startFakeProvider } from "./fake-provider.ts";
import type { TempHome } from "./temp-home.ts";
import { waitFor, WHOLE_WAIT_MS } from "./wait-for.ts";

export interface AgentStage extends AsyncDisposable {
  /** What a test begins with. The first one starts the pool. */
  scene(script?: FakeScript): Promise<Scene>;
}

interface Scene {
  /** `lease` and `turn` are for this scene's own session unless they are asked for another. */
  readonly fx: AgentFixture;
  /** For a second session: a name that no other scene has. */
  readonly file: (name: string) => string;
  readonly provider: FakeProvider;
  /** What the provider was asked in this scene. */
  readonly requests: readonly ProviderRequest[];
  /** Resolves when `count` requests of this scene have arrived. */
  arrived(count: number): Promise<void>;
}

interface StageOptions extends AgentConfig {
  readonly roles?: Config["roles"]["profiles"];
}

/** `waitFor` with the patience that a start of pi needs. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  await waitFor(what, holds, Boolean, { withinMs: WHOLE_WAIT_MS });
}

interface Open {
  readonly provider: FakeProvider;
  readonly fx: AgentFixture;
}

/** Without `models` the agents know the fake provider alone. */
export function createAgentStage(
  config: StageOptions = {},
  prepare: (home: TempHome) => Promise<AgentConfig> = async () => ({}),
  models: (fake: FakeProvider) => Config["models"] = providers,
): AgentStage {
  let opened: Promise<Open> | null = null;
  let scenes = 0;
  let now: { readonly script: FakeScript | undefined; readonly requests: ProviderRequest[] } = nothing();

  const open = async (): Promise<Open> => {
    const provider = await startFakeProvider((request) => {
      const index = now.requests.push(request) - 1;
      return now.script?.(request, index) ?? { kind: "text", pieces: ["ok"] };
    });
    return { provider, fx: await agentFixture(config, models(provider), prepare) };
  };
  return {
    async scene(script) {
      opened ??= open();
      const { provider, fx } = await opened;
      const file = (name: string) => `session-${name}-${id}.jsonl`;
      const id = ++scenes;
      const before = provider.requests.length;
      const { requests } = (now = { script, requests: [] });
      fx.gate.reset();
      return {
        fx: inSession(fx, file("own")),
        file,
        provider,
        requests,
        arrived: (count) => provider.arrived(before + count),
      };
    },
    async [Symbol.asyncDispose]() {
      const { provider, fx } = (await opened) ?? {};
      await fx?.[Symbol.asyncDispose]();
      await provider?.[Symbol.asyncDispose]();
    },
  };
}

function nothing(): { readonly script: FakeScript | undefined; readonly requests: ProviderRequest[] } {
  return { script: undefined, requests: [] };
}

function inSession(fx: AgentFixture, sessionFile: string): AgentFixture {
  return {
    ...fx,
    lease: (request) => fx.lease({ sessionFile, ...request }),
    turn: (text, request) => fx.turn(text, { sessionFile, ...request }),
  };
}
