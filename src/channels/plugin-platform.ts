/**
 * A platform that a plugin brings: the same contract and the same intake as those that ship with the gateway, and a fence around it. It speaks
 * under its own name only, what it hears ends with it, and what it does wrong is turned into something the rest of the house understands.
 */
import type { Answerer } from "../contracts/channels/question.ts";
import { SendError, type SendErrorKind } from "../contracts/channel.ts";
import type { ChannelAccessSettings } from "../contracts/channels/access.ts";
import type { PluginChannelDeps } from "../contracts/channels/channel-kit.ts";
import type { Arrival, MessageIntake, OpenChannel, Platform, PlatformDeps } from "../contracts/channels/platform.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { Events } from "../contracts/events.ts";
import { isQuotedList } from "../kit/marks/quoted.ts";
import { remember, startApprovalMessages, wholeCharacters } from "./kit/index.ts";

export interface PluginPlatform extends Platform {
  open(deps: PluginChannelDeps, signal: AbortSignal): Promise<readonly OpenChannel[]>;
  readonly access?: ChannelAccessSettings;
}

/** What a platform says about who may write, when it says nothing: a code for strangers, and no groups. */
const USUAL: ChannelAccessSettings = { dmPolicy: "pairing", groupPolicy: "allowlist" };
const ID = /^[a-z][a-z0-9-]{0,31}$/;
const DM_POLICIES: readonly unknown[] = ["pairing", "allowlist", "open", "disabled"];
const GROUP_POLICIES: readonly unknown[] = ["allowlist", "open", "disabled"];
const ROLES: readonly unknown[] = [undefined, "owner", "member", "guest"];
const SEND_ERRORS: readonly unknown[] = ["retry", "limited", "permanent", "lost"] satisfies readonly SendErrorKind[];
const ABILITIES = ["react", "edit", "delete", "pin"] as const;
const METHODS = ["send", "ready", "health", Symbol.asyncDispose] as const;

/** Throws with a sentence for whoever wrote the plugin. `taken`: ids that are somebody else's. */
export function checkPlugin({ id, open }: Platform, isTaken: (id: string) => boolean): void {
  if (!ID.test(id))
    throw invalid(`"${String(id).slice(0, 40)}" is no id for a channel: small letters, digits, dashes.`);
  if (isTaken(id)) throw invalid(`There is a channel called ${id} already. Give this one another name.`);
  if (typeof open !== "function") throw invalid(`The channel ${id} has no open function.`);
}

/** Fails closed: settings that cannot be read open nothing. */
export function accessOf(id: string, access: ChannelAccessSettings = {}): ChannelAccessSettings {
  const all: ChannelAccessSettings = { ...USUAL, ...access };
  const { groups = {}, allowFrom = [], requireMention = true } = all;
  const rules = [{ allowFrom, requireMention }, ...Object.values({ ...groups, ...all.guilds })];
  const readable =
    DM_POLICIES.includes(all.dmPolicy) &&
    GROUP_POLICIES.includes(all.groupPolicy) &&
    isContext(all.groupContext) &&
    isFlag(all.wakeOnReaction) &&
    rules.every((rule) => isList(rule.allowFrom) && isFlag(rule.requireMention) && ROLES.includes(roleIn(rule)));
  if (!readable) throw invalid(`What the channel ${id} says about who may write to it cannot be read.`);
  for (const own of Object.values(all.accounts ?? {})) accessOf(id, own);
  return all;
}

const isList = (value: unknown): boolean =>
  value === undefined || (Array.isArray(value) && value.every((one) => typeof one === "string"));
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isContext = (value: ChannelAccessSettings["groupContext"]): boolean =>
  value === undefined || [value.messages, value.minutes, value.chars].every(isCount);
const isFlag = (value: unknown): boolean => value === undefined || typeof value === "boolean";
const roleIn = (rule: object): unknown => ("role" in rule ? rule.role : undefined);

/** Opens it behind the fence. What is not a channel is an error, not half a channel. */
export function fenced(platform: PluginPlatform): Platform {
  const { id } = platform;
  return {
    id,
    async open(deps, signal) {
      const services = servicesFor(deps, id);
      let open: readonly OpenChannel[] = [];
      try {
        open = await platform.open(services.deps, signal);
        checkOpen(id, open);
        return open.map((channel) => around(channel, services));
      } catch (error) {
        services[Symbol.dispose]();
        if (Array.isArray(open)) await Promise.allSettled(open.map(async (one) => one[Symbol.asyncDispose]()));
        throw error;
      }
    },
  };
}

interface PluginServices extends Disposable {
  readonly deps: PluginChannelDeps;
}

/** The same things, as far as they are this channel's own. Disposing ends what it listens to. */
function servicesFor(deps: PlatformDeps, id: string): PluginServices {
  const listening = new Set<Disposable>();
  const ownPerson = (by: Answerer): void => {
    if (by.principal.startsWith(`${id}:user:`) && (by.at === undefined || by.at.channel === id)) return;
    throw invalid(`The channel ${id} can answer for its own people in its own chats, and for nobody else.`);
  };
  const ownFacts = (channel: string): string => {
    if (channel === id) return id;
    throw invalid(`The channel ${id} can remember things under its own name only.`);
  };
  const on: Events["on"] = (event, listener) => {
    const one = deps.events.on(event, listener);
    listening.add(one);
    return one;
  };
  const log = deps.log.child({ channel: id });
  const events = { ...deps.events, on };
  return {
    deps: {
      ...deps,
      log,
      events,
      kit: {
        remember,
        wholeCharacters,
        startApprovals: (platform, signal) => startApprovalMessages({ ...deps, log, events }, platform, signal),
      },
      door: fencedDoor(id, deps.door),
      questions: {
        answer(questionId, given, by) {
          ownPerson(by);
          return deps.questions.answer(questionId, given, by);
        },
        async answerAnywhere(questionId, given, by) {
          ownPerson(by);
          return deps.questions.answerAnywhere(questionId, given, by);
        },
      },
      facts: {
        get: async (channel, account, key) => deps.facts.get(ownFacts(channel), account, key),
        put: async (channel, account, key, value) => deps.facts.put(ownFacts(channel), account, key, value),
        forget: async (channel, account, key) => deps.facts.forget(ownFacts(channel), account, key),
        list: async (channel, account, prefix) => deps.facts.list(ownFacts(channel), account, prefix),
      },
    },
    [Symbol.dispose]() {
      for (const one of listening) one[Symbol.dispose]();
      listening.clear();
    },
  };
}

/** The intake, for people and chats of this channel alone. */
function fencedDoor(id: string, door: MessageIntake): MessageIntake {
  const own = ({ address, sender }: Pick<Arrival, "address" | "sender">): void => {
    if (address.channel === id && sender.principal.startsWith(`${id}:user:`)) return;
    throw invalid(`The channel ${id} can speak for its own people in its own chats, and for nobody else.`);
  };
  return {
    async look(arrival) {
      own(arrival);
      return door.look(arrival);
    },
    async receive(message, signal) {
      own(message);
      // without it a forwarded command would be its forwarder's
      if (!isQuotedList(message.quoted)) throw invalid(`The channel ${id} does not say which words are ${WHOSE}`);
      return door.receive(message, signal);
    },
    async react(reaction) {
      own(reaction);
      return door.react(reaction);
    },
    async typing(facts) {
      own(facts);
      return door.typing(facts);
    },
  };
}

const WHOSE = "its sender's own: a message needs `quoted`, a list, which is empty when all of them are.";

function checkOpen(id: string, open: readonly OpenChannel[]): void {
  const wrong = (what: string) => new Error(`it opened ${what}`);
  if (!Array.isArray(open)) throw wrong("something that is no list of channels");
  const accounts = new Set<string>();
  for (const channel of open as readonly OpenChannel[]) {
    if (channel.id !== id) throw wrong(`a channel called ${String(channel.id).slice(0, 40)}`);
    if (typeof channel.account !== "string" || accounts.has(channel.account)) throw wrong("two accounts of one name");
    accounts.add(channel.account);
    const missing = METHODS.find((method) => typeof channel[method] !== "function");
    if (missing !== undefined) throw wrong(`a channel without ${missing.toString()}`);
    const { questions } = channel;
    const shows = !questions || (typeof questions.show === "function" && isCount(questions.maxButtons));
    if (!shows || (questions && !isCount(questions.maxLabelChars)))
      throw wrong("a channel whose questions cannot be read");
    if (channel.webhook && !channel.webhook.path.startsWith(`/${id}/`)) throw wrong(`a webhook outside of /${id}/`);
    if (!isList(channel.webhook?.hosts)) throw wrong("a webhook whose hosts cannot be read");
  }
}

/** Abilities are what exists, `questions` among them. Each is called on the channel itself, which may be of any make. */
function around(channel: OpenChannel, services: PluginServices): OpenChannel {
  const { id, account, canRefuse, repeat, dedupeMs, whenLost, messages, questions, webhook } = channel;
  const abilities = ABILITIES.flatMap((name): readonly (readonly [string, unknown])[] => {
    const ability: unknown = Reflect.get(channel, name);
    return typeof ability === "function" ? [[name, ability.bind(channel)]] : [];
  });
  return {
    ...(Object.fromEntries(abilities) as Pick<OpenChannel, (typeof ABILITIES)[number] & keyof OpenChannel>),
    id,
    account,
    canRefuse,
    repeat,
    ...(dedupeMs === undefined ? {} : { dedupeMs }),
    ...(whenLost === undefined ? {} : { whenLost }),
    ...(messages
      ? {
          messages: {
            delivered: async (...given) => messages.delivered(...given),
            skip: async (...given) => messages.skip(...given),
          },
        }
      : {}),
    ...(questions
      ? {
          questions: {
            maxButtons: questions.maxButtons,
            maxLabelChars: questions.maxLabelChars,
            show: async (...given) => questions.show(...given),
          },
        }
      : {}),
    ...(webhook
      ? {
          webhook: {
            path: webhook.path,
            ...(webhook.hosts === undefined ? {} : { hosts: [...webhook.hosts] }),
            handle: async (...given) => webhook.handle(...given),
          },
        }
      : {}),
    async send(...given) {
      try {
        return (await channel.send(...given)) ?? {};
      } catch (error) {
        throw asSendError(error);
      }
    },
    ready(to) {
      try {
        return channel.ready(to) === true;
      } catch {
        return false; // its health says more
      }
    },
    health: () => channel.health(),
    async [Symbol.asyncDispose]() {
      services[Symbol.dispose]();
      await channel[Symbol.asyncDispose]();
    },
  };
}

/** By form, not by class: a plugin has no other way to the gateway's classes than to write the same words. */
function asSendError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof SendError || !("kind" in error)) return error;
  if (error.name !== "SendError" || !SEND_ERRORS.includes(error.kind)) return error;
  const retryAfterMs =
    "retryAfterMs" in error && typeof error.retryAfterMs === "number" ? error.retryAfterMs : undefined;
  const more = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new SendError(error.kind as SendErrorKind, error.message, { cause: error, ...more });
}

function invalid(say: string): GatewayError {
  return new GatewayError("plugin_invalid", say, { say });
}
