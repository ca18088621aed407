/** Discord on this machine: REST and gateway in one, with channels that hold messages, everything written down, and ways to misbehave. */
import { type FakeGateway, startFakeGateway } from "./fake-gateway.ts";
import { type FakeRest, startFakeRest } from "./fake-rest.ts";
import { PLACES } from "./fake-people.ts";
import { createFakeState, type FakeState, type NewMessage } from "./fake-state.ts";

export interface FakeDiscord extends AsyncDisposable {
  /** For the setting of the same name. */
  readonly apiRoot: string;
  readonly state: FakeState;
  readonly rest: FakeRest;
  readonly gateway: FakeGateway;
  /** Somebody says something; the gateway tells whoever is connected. Gives the id of the message. */
  say(message: NewMessage): string;
  /** A message is changed by its author. */
  change(channel: string, id: string, content: string): void;
}

interface FakeOptions {
  /** Epoch milliseconds; decides how long a nonce is remembered, and the ids. */
  now(): number;
  /** What HELLO asks for, in real milliseconds. */
  readonly heartbeatMs?: number;
}

export async function startFakeDiscord(options: FakeOptions): Promise<FakeDiscord> {
  const state = createFakeState(options);
  state.addChannel({ id: PLACES.dm, type: "dm" });
  state.addChannel({ id: PLACES.strangersDm, type: "dm" });
  state.addChannel({ id: PLACES.room, type: "room", guild: PLACES.guild });
  state.addChannel({ id: PLACES.thread, type: "thread", guild: PLACES.guild, parent: PLACES.room });
  const gateway = startFakeGateway(state, options.heartbeatMs ?? 40_000);
  const rest = await startFakeRest(state, {
    gatewayUrl: () => gateway.url,
    signInsLeft: () => gateway.signInsLeft,
    silent: () => gateway.silent(),
  });
  return {
    apiRoot: `${rest.url}/api`,
    state,
    rest,
    gateway,
    say(message) {
      const made = state.add(message);
      gateway.dispatch("MESSAGE_CREATE", state.asEvent(made));
      return made.id;
    },
    change(channel, id, content) {
      const changed = state.edit(channel, id, content);
      if (changed) gateway.dispatch("MESSAGE_UPDATE", state.asEvent(changed));
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await rest[Symbol.asyncDispose]();
    },
  };
}
