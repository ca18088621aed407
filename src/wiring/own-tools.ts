/** Gives the gateway's own tools what they need. Parts that are built after the tools are asked for when a call needs them. */
import { builtinFactories, type BuiltinToolDeps, builtinTools, enabledTools } from "../builtin.ts";
import { agentProfiles, agentWorkspace } from "../agents/index.ts";
import { type Config, type Environment, publicConfig } from "../config/index.ts";
import type { PersonTimes } from "../contracts/automation/when.ts";
import type { JobDesk } from "../contracts/automation/jobs.ts";
import type { Channel } from "../contracts/channel.ts";
import type { Outbox } from "../contracts/delivery.ts";
import type { Events } from "../contracts/events.ts";
import type { LiveTurns } from "../contracts/flow.ts";
import type { Principal, SessionKey } from "../contracts/ids.ts";
import type { OutgoingFiles } from "../contracts/media/files.ts";
import type { Store } from "../contracts/store.ts";
import type { Delegator } from "../contracts/tools/delegation.ts";
import type { Tool, ToolFactory } from "../contracts/tools/tool.ts";
import { createChatMessages, createPoster } from "../delivery/index.ts";
import type { ReloadReport } from "../http/index.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import type { SecretMask } from "../kit/secret.ts";
import { systemResolver } from "../kit/outside/guarded-fetch.ts";
import { openOutgoingFiles, type OutgoingOptions } from "../media/index.ts";
import { buildSessionKey, idsOfPerson } from "../routing/index.ts";
import { notesOfPeople, type SessionFacts, tasksOfPeople } from "../tools/index.ts";

export interface OwnToolParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly store: Store;
  readonly people: PersonTimes;
  readonly config: () => Config;
  reloadConfig(): Promise<ReloadReport>;
  restart(): boolean;
  readonly events: Pick<Events, "emit">;
  outbox(): Outbox;
  channels(): { get(id: string): Channel | undefined };
  live(): LiveTurns;
  delegator(): Delegator;
  files(): OutgoingFiles;
  jobs(): JobDesk;
}

export function ownTools(parts: OwnToolParts): readonly (Tool | ToolFactory)[] {
  const { clock, ids, store, config } = parts;
  const poster = createPoster({ clock, store: store.outbox, outbox: { wake: () => parts.outbox().wake() } });
  const idsOf = (who: Principal) => idsOfPerson(config().session.identityLinks, who);
  const deps: BuiltinToolDeps = {
    clock,
    ids,
    poster,
    notes: notesOfPeople(store.notes, idsOf),
    tasks: tasksOfPeople(store.tasks, idsOf),
    files: { take: (wanted, signal) => parts.files().take(wanted, signal) },
    channel: (id) => parts.channels().get(id),
    messages: createChatMessages({
      clock,
      events: parts.events,
      messages: store.messages,
      posts: store.outbox,
      channel: (id) => parts.channels().get(id),
    }),
    history: store.messages.history,
    sessionOf: (name, caller) => sessionOf(store, name, caller),
    jobs: lateDesk(parts.jobs),
    people: parts.people,
    recorded: (key) => recorded(parts, key),
    publicConfig: () => publicConfig(config()),
    reloadConfig: parts.reloadConfig,
    restart: parts.restart,
    search: { resolve: systemResolver, settings: () => config().tools.webSearch },
    pages: { resolve: systemResolver, settings: () => config().tools.webFetch },
    opensPages: () => config().tools.webFetch.enabled ?? config().tools.webSearch.provider !== undefined,
  };
  const all = [...builtinTools(deps), ...builtinFactories({ ids, delegator: parts.delegator })];
  return enabledTools(all, config().plugins.disabled);
}

/** A full key names its session; anything else is the id of a chat of the caller's own channel and agent, never a chat elsewhere. */
async function sessionOf(
  { sessions }: Pick<Store, "sessions">,
  name: string,
  { origin: { channel, account }, agentId: agent }: Parameters<BuiltinToolDeps["sessionOf"]>[1],
): Promise<SessionKey | null> {
  const chats = [{}, { account }].flatMap((of) =>
    (["dm", "group"] as const).map(
      (scope) => ({ form: "chat", agent, channel, scope, peer: { id: name }, ...of }) as const,
    ),
  );
  const keys = name.startsWith("agent:") ? [name as SessionKey] : chats.map(buildSessionKey);
  for (const key of keys) if (await sessions.get(key)) return key;
  return null;
}

/** Asked for with each call: it is built after the tools. */
function lateDesk(desk: () => JobDesk): JobDesk {
  return {
    add: (...asked) => desk().add(...asked),
    update: (...asked) => desk().update(...asked),
    remove: (...asked) => desk().remove(...asked),
    pause: (...asked) => desk().pause(...asked),
    resume: (...asked) => desk().resume(...asked),
    run: (...asked) => desk().run(...asked),
    get: (...asked) => desk().get(...asked),
    list: (...asked) => desk().list(...asked),
    runs: (...asked) => desk().runs(...asked),
    wake: (...asked) => desk().wake(...asked),
    status: () => desk().status(),
  };
}

/** A conversation that is not open in the calling agent: what its rows say, without what only an agent could know. */
async function recorded({ store, live }: OwnToolParts, key: SessionKey): Promise<SessionFacts | null> {
  const session = await store.sessions.get(key);
  if (!session) return null;
  const { items } = await store.turns.list({ sessionKey: key, outcome: "done" }, { limit: 1 });
  return {
    model: items[0]?.turn.model ?? "not known yet",
    messages: session.messages,
    ...session.usage,
    contextPercent: null,
    contextWindow: null,
    streaming: live().snapshot(key) !== null,
  };
}

export interface OwnFileOptions {
  readonly home: string;
  readonly environment: Environment;
}

const MIB = 1024 * 1024;

/** Files that agents may send; a reload takes effect with the next file. */
export async function openLiveFiles(
  deps: {
    readonly clock: Clock;
    readonly ids: Ids;
    readonly log: Log;
    readonly mask: SecretMask;
    readonly store: Pick<Store, "media" | "conversationFiles">;
  },
  config: Config,
  options: OwnFileOptions,
): Promise<OutgoingFiles & { reload(config: Config): Promise<void> }> {
  const { media, conversationFiles } = deps.store;
  const files = await openOutgoingFiles({ ...deps, media, conversationFiles }, fileOptions(config, options));
  return { take: files.take, reload: (next) => files.apply(fileOptions(next, options)) };
}

function fileOptions(config: Config, { home, environment }: OwnFileOptions): OutgoingOptions {
  const workspaces = [...agentProfiles(config).values()].map(({ id: agentId, role, config: own }) => ({
    agentId,
    role,
    folder: agentWorkspace(own, { home, environment }),
  }));
  return {
    workspaces,
    roots: config.media.roots,
    reach: { owner: "workspace", ...config.media.send },
    stateDirectory: home,
    maxBytes: config.media.maxMb * MIB,
    uid: process.getuid?.() ?? 0,
  };
}
