/** The gateway's built-in tools, with what they need. They are registered by a plugin that ships, through the same checks as everybody's. */
import type { Backups } from "../backup/index.ts";
import { builtinFactories, type BuiltinToolDeps, builtinTools, enabledTools } from "../builtin.ts";
import { publicConfig } from "../config/index.ts";
import { type ApiKeys, isKeyPrincipal } from "../contracts/api-keys.ts";
import type { Conversations } from "../contracts/conversations.ts";
import type { Principal, SessionKey } from "../contracts/ids.ts";
import type { OutgoingFiles } from "../contracts/agent-files.ts";
import type { Tool, ToolFactory } from "../contracts/tools/tool.ts";
import { createChatMessages } from "../delivery/index.ts";
import type { ReloadReport } from "../contracts/http-api.ts";
import { systemResolver } from "../kit/outside/public-address.ts";
import { idsOfPerson, namedSession } from "../routing/index.ts";
import { notesOfPeople, type SessionReport, tasksOfPeople } from "../tools/index.ts";
import type { Core } from "./core.ts";
import type { Groups } from "./groups.ts";
import type { Messages } from "./messages.ts";

/** Operations of an operator on the running gateway. */
export interface Operations {
  reloadConfig(): Promise<ReloadReport>;
  /** Begins a restart; false when that is not allowed. */
  restart(): boolean;
  readonly backups: Pick<Backups, "makeNow" | "report">;
}

interface BuiltInToolParts extends Groups {
  readonly files: OutgoingFiles;
  readonly operations: Operations;
  /** Resolves when the port is open. */
  readonly conversations: Promise<Conversations>;
}

/** Those that the settings of now bring. */
export function createBuiltInTools(core: Core, parts: BuiltInToolParts): readonly (Tool | ToolFactory)[] {
  const { clock, ids, events, store, config, channels } = core;
  const idsOf = (who: Principal) => idsOfPerson(config().session.identityLinks, who);
  const channel = (id: string) => channels.get(id);
  const deps: BuiltinToolDeps = {
    clock,
    ids,
    poster: parts.tools.poster,
    notes: notesOfPeople(store.notes, idsOf),
    tasks: tasksOfPeople(store.tasks, idsOf),
    files: parts.files,
    channel,
    messages: createChatMessages({ clock, events, messages: store.messages, posts: store.outbox, channel }),
    history: store.messages.history,
    sessionOf: (name, caller) => namedSession(store.sessions, name, caller),
    jobs: parts.automation.jobs,
    people: parts.people.times,
    recorded: (key) => recordedSession(core, parts.messages, key),
    publicConfig: () => publicConfig(config()),
    reloadConfig: parts.operations.reloadConfig,
    restart: parts.operations.restart,
    toolFinder: parts.tools.finder,
    search: { resolve: systemResolver, settings: () => config().tools.webSearch },
    pages: { resolve: systemResolver, settings: () => config().tools.webFetch },
    opensPages: () => config().tools.webFetch.enabled ?? config().tools.webSearch.provider !== undefined,
  };
  const delegating = builtinFactories({
    ids,
    delegator: () => parts.agents.delegations,
    conversations: parts.conversations,
    mayChat: (principal) => mayChat(parts.people.keys, principal),
  });
  return enabledTools([...builtinTools(deps), ...delegating], config().plugins.disabled);
}

/** Whoever is no key is a person with access, who may. */
function mayChat(keys: Pick<ApiKeys, "of">, principal: Principal): boolean {
  const scopes = keys.of(principal)?.scopes;
  return scopes === undefined ? !isKeyPrincipal(principal) : scopes.includes("chat") || scopes.includes("admin");
}

/** A session that is not open in the calling agent: what its rows say, without what only an agent could know. */
async function recordedSession({ store }: Core, { live }: Messages, key: SessionKey): Promise<SessionReport | null> {
  const session = await store.sessions.get(key);
  if (!session) return null;
  const { items } = await store.turns.list({ sessionKey: key, outcome: "done" }, { limit: 1 });
  return {
    model: items[0]?.turn.model ?? "not known yet",
    messages: session.messages,
    ...session.usage,
    contextPercent: null,
    contextWindow: null,
    streaming: live.snapshot(key) !== null,
  };
}
