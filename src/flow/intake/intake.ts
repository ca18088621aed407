/** Intake of platforms, whose people nobody signed in: access is checked before any work, and once more when a message is stored. */
import type { ChatReceiver } from "../../contracts/channel.ts";
import type { Pairing } from "../../contracts/channels/pairing.ts";
import type { Arrival, MessageIntake } from "../../contracts/channels/platform.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { Router, Verdict } from "../../contracts/routing.ts";
import type { InboxStore } from "../../contracts/store/inbox.ts";
import type { SessionPreparer } from "../../contracts/flow.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import type { GroupTalk } from "./group-talk.ts";
import type { ReactionWakes } from "./reaction-wakes.ts";
import { keepReaction, type ReactionDeps } from "./reactions.ts";

interface MessageIntakeDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly router: Router;
  readonly receiver: ChatReceiver;
  readonly pairing: Pick<Pairing, "ask">;
  readonly inbox: Pick<InboxStore, "newestVersion">;
  readonly reactions: Omit<ReactionDeps, "clock">;
  readonly reactionWakes: ReactionWakes;
  readonly groupTalk: Pick<GroupTalk, "note">;
  readonly preparer: SessionPreparer;
  readonly stopping: AbortSignal;
}

/** A rejected person is told so once in this time. */
export const TOLD_AGAIN_MS = 60 * 60 * 1_000;
/** People whose last answer is remembered. While there are more, the rest hear nothing. */
export const MAX_TOLD = 1_000;

/** The one reason that is about the message: its sender may speak there. */
const NOT_MENTIONED = "not_mentioned";

export function createMessageIntake(deps: MessageIntakeDeps): MessageIntake {
  const told = new Map<string, number>();
  const mayTell = (who: string): boolean => {
    const now = deps.clock.now();
    for (const [key, at] of told) if (now - at >= TOLD_AGAIN_MS) told.delete(key);
    if (told.has(who) || told.size >= MAX_TOLD) return false;
    told.set(who, now);
    return true;
  };

  return {
    async look(arrival) {
      const verdict = deps.router.decide(arrival);
      if (verdict.kind === "accept")
        return (await changesSomething(deps, arrival))
          ? { kind: "come", role: verdict.role }
          : { kind: "stay", say: null };
      if (verdict.because === NOT_MENTIONED) deps.groupTalk.note(arrival);
      const { channel, account } = arrival.address;
      deps.log.debug("message without access", { channel, account, kind: arrival.kind, because: verdict.because });
      return { kind: "stay", say: await answerTo(deps, arrival, verdict, mayTell) };
    },
    async receive(message, signal) {
      const receipt = await deps.receiver.receiveChat(message, signal);
      // Nothing was stored, and the platform can bring it again: it must not hear "received".
      if (receipt.kind === "refused" && receipt.because === "stopping")
        throw new GatewayError("stopping", "the gateway is stopping");
      return receipt;
    },
    async react(reaction) {
      const { address, scope, place, sender } = reaction;
      const about = { address, scope, sender, ...(place === undefined ? {} : { place }) };
      const verdict = deps.router.decide({ ...about, mentioned: true });
      if (verdict.kind !== "accept") return;
      const message = await keepReaction({ ...deps.reactions, clock: deps.clock }, reaction);
      if (message) deps.reactionWakes.note({ reaction, role: verdict.role, message });
    },
    async typing(facts) {
      await deps.preparer.prepare({ ...facts, mentioned: facts.scope === "dm" }, deps.stopping);
    },
  };
}

/** False for the edit of a message that was never stored, and for one that leaves it as it was: link previews count as edits on platforms. */
async function changesSomething({ inbox, log }: MessageIntakeDeps, { address, edited }: Arrival): Promise<boolean> {
  if (!edited) return true;
  const { channel, account } = address;
  const newest = await inbox.newestVersion({ channel, account, eventId: edited.eventId });
  if (newest !== null && newest !== edited.fingerprint) return true;
  log.debug("edit ignored", {
    channel,
    account,
    because: newest === null ? "message never stored" : "nothing changed",
  });
  return false;
}

/** Only a message in a direct chat is answered: in groups, and for buttons and edits, there is silence. */
async function answerTo(
  { pairing }: MessageIntakeDeps,
  { kind, scope, sender, address }: Arrival,
  verdict: Extract<Verdict, { kind: "refuse" }>,
  mayTell: (who: string) => boolean,
): Promise<string | null> {
  if (verdict.tell === "nothing" || scope !== "dm" || kind !== "message") return null;
  const { channel, account } = address;
  const { principal, name } = sender;
  if (verdict.tell === "pairing") return pairing.ask({ principal, name, channel, account });
  return mayTell(JSON.stringify([channel, account, principal])) ? verdict.say : null;
}
