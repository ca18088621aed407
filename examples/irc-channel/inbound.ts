/**
 * What people say → the intake of the gateway, one after the other. IRC says everything once and wants no receipt, so what cannot be stored yet is kept here
 * and tried again until it can.
 */
import type { Arrival, InboundMessage, PlatformDeps, Principal, Role } from "pi-gateway/plugin";
import { ACCOUNT, CHANNEL, type IrcSettings } from "./config.ts";
import type { Line } from "./wire/line.ts";
import { addressed, encode, fold, isChannel, type Person, personOf } from "./wire/names.ts";
import type { IrcApprovals } from "./approvals.ts";
import { isCtcp, plainText } from "./wire/text.ts";

/** Something somebody said, before anybody has decided about it. */
export interface Said {
  readonly person: Person;
  /** The nick or the channel that a sentence about it goes to. */
  readonly back: string;
  readonly about: Omit<Arrival, "kind">;
  readonly text: string;
  /** The server's own id of it, where it gives one. */
  readonly messageId: string | null;
}

export interface Intake {
  take(said: Said): void;
  /** Resolves when nothing is under way any more; soon after the signal has aborted. */
  settled(): Promise<void>;
}

export interface IntakeDeps extends Pick<PlatformDeps, "clock" | "ids" | "log" | "door" | "commands"> {
  /** One sentence to a nick or a channel. */
  say(target: string, text: string): Promise<void>;
  readonly approvals: Pick<IrcApprovals, "answered">;
  /** Somebody may be answered later, and is reached like this now. */
  met(person: Person): Promise<void>;
}

const MAX_WAITING = 500;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
const TOO_MUCH = "This was not taken in, because too much is waiting. Please say it again later.";
const STOPPING = "This was not taken in, because the gateway is stopping. Please say it again in a moment.";

/** Null: not for us, or not from a person. Notices and CTCP are for programs, and are never answered. */
export function saidIn(
  line: Line,
  { nick, tellsAccounts }: { readonly nick: string; readonly tellsAccounts: boolean },
  settings: Pick<IrcSettings, "server" | "requireAccount">,
): Said | null {
  const [target = "", words = ""] = line.params;
  const person = personOf(line, tellsAccounts);
  if (line.command !== "PRIVMSG" || !person || isCtcp(words) || fold(person.nick) === fold(nick)) return null;
  if (settings.requireAccount && !person.hasAccount) return null;
  const inChannel = isChannel(target);
  if (!inChannel && fold(target) !== fold(nick)) return null;
  const text = plainText(words);
  const forUs = addressed(text, nick);
  return {
    person,
    back: inChannel ? target : person.nick,
    text: forUs ?? text,
    messageId: line.tags.get("msgid") ?? null,
    about: {
      address: { channel: CHANNEL, account: ACCOUNT, chat: inChannel ? fold(target) : person.id },
      scope: inChannel ? "group" : "dm",
      sender: { principal: principalOf(person, settings.server), name: person.nick },
      mentioned: !inChannel || forUs !== null,
    },
  };
}

/** With the network's name in it: `alice` here and `alice` elsewhere are two people. */
export function principalOf({ id }: Pick<Person, "id">, server: string): Principal {
  return `${CHANNEL}:user:${encode(server)}/${id}` as Principal;
}

/** `!status` is the command `/status`: clients keep what begins with a slash to themselves. */
export function asCommand(text: string, commands: readonly { readonly name: string }[]): string {
  const name = /^!([a-z]+)(?=\s|$)/.exec(text)?.[1];
  return name !== undefined && commands.some((one) => one.name === name) ? `/${text.slice(1)}` : text;
}

export function createIntake(deps: IntakeDeps, signal: AbortSignal): Intake {
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();
  return {
    take(said) {
      const { log } = deps;
      if (waiting >= MAX_WAITING) {
        log.warn("a message was not taken in: too much waits to be stored", { waiting });
        void deps.say(said.back, TOO_MUCH);
        return;
      }
      waiting++;
      last = last.then(() => untilTaken(deps, said, signal)).finally(() => void waiting--);
    },
    settled: () => last,
  };
}

/** Never rejects. */
async function untilTaken(deps: IntakeDeps, said: Said, signal: AbortSignal): Promise<void> {
  const eventId = said.messageId === null ? deps.ids.next("irc") : `msgid:${said.messageId}`;
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    try {
      return await takeOnce(deps, said, eventId, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (codeOf(error) === "stopping") return await deps.say(said.back, STOPPING);
      if (codeOf(error) === "plugin_invalid") return deps.log.error("a message that can never be taken in", { error });
      deps.log.warn("a message could not be stored yet", { error });
    }
    await deps.clock.sleep(pauseMs, signal).catch(() => undefined); // being closed is the normal end
  }
}

async function takeOnce(deps: IntakeDeps, said: Said, eventId: string, signal: AbortSignal): Promise<void> {
  const { about, person, back } = said;
  const looked = await deps.door.look({ ...about, kind: "message" });
  if (looked.kind === "stay") {
    if (looked.say !== null) await deps.say(back, looked.say);
    return;
  }
  const { role } = looked;
  if (about.scope === "dm" && (await deps.approvals.answered(said.text, about, role))) return;
  await deps.met(person);
  const receipt = await deps.door.receive(messageOf(deps, said, eventId, role), signal);
  if (receipt.kind === "refused" && receipt.because !== "ignored" && receipt.because !== "empty")
    await deps.say(back, receipt.say);
}

function messageOf(deps: IntakeDeps, { about, text }: Said, eventId: string, role: Role): InboundMessage {
  return {
    ...about,
    eventId,
    fingerprint: new Bun.CryptoHasher("sha256").update(text).digest("hex"),
    text: asCommand(text, deps.commands(role)),
    quoted: [], // IRC has no replies and no forwards: all of it is its sender's
    attachments: [],
    receivedAt: deps.clock.now(),
  };
}

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : null);
