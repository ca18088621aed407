/** Shows open questions to owners in the chat they come from, with buttons. Each is shown once in the life of this channel. */
import type { API } from "@discordjs/core";
import type { PlatformDeps } from "../../../contracts/channels/platform.ts";
import type { SessionKey } from "../../../contracts/ids.ts";
import type { PendingApproval } from "../../../contracts/tools/approval.ts";
import { createTasks, remember } from "../../kit/index.ts";
import { failureOf } from "../outbound/failure.ts";
import { nonceOf } from "../outbound/nonce.ts";
import { buttonsFor, questionText, tooLongText } from "./buttons.ts";

export interface QuestionDeps extends Pick<PlatformDeps, "clock" | "log" | "events" | "approvals"> {
  readonly api: API;
  /** Where this is to be asked; null: not on Discord, as far as is known. */
  channelOf(question: PendingApproval): string | null;
}

/** While a turn is running, open questions are looked for this often. */
const LOOK_MS = 1_000;
const MAX_SHOWN = 1_000;

export function startQuestions(deps: QuestionDeps): AsyncDisposable {
  const stopping = new AbortController();
  const running = new Set<SessionKey>();
  const shown = new Map<string, Posted | null>();
  let looking: Promise<void> | null = null;
  const telling = createTasks(() => undefined); // each has said what there is to say

  const look = async (): Promise<void> => {
    let again = false;
    do {
      again = false;
      for (const question of deps.approvals.pending()) {
        const channel = shown.has(question.id) ? null : deps.channelOf(question);
        if (channel === null) continue;
        remember(shown, question.id, null, MAX_SHOWN);
        const posted = await show(deps, channel, question, stopping.signal);
        if (posted === "again") again = shown.delete(question.id);
        else if (shown.has(question.id)) shown.set(question.id, posted);
      }
      await deps.clock.sleep(LOOK_MS, stopping.signal).catch(() => undefined); // closing is the normal end
    } while ((again || running.size > 0) && !stopping.signal.aborted);
    looking = null;
  };
  const listening = [
    // whether it is one of ours may be known a moment later only
    deps.events.on("turn.started", ({ sessionKey }) => {
      running.add(sessionKey);
      looking ??= look();
    }),
    // a turn that went on after a restart began before anybody here could hear of it
    deps.events.on("approval", (news) => {
      if (news.decision === null) looking ??= look();
      const posted = news.decision === "expired" ? shown.get(news.id) : null;
      if (!posted || news.decision !== "expired" || !news.say) return;
      void telling.add(tell(deps, posted, news.say, stopping.signal));
    }),
    deps.events.on("turn.ended", ({ sessionKey }) => void running.delete(sessionKey)),
  ];
  if (deps.approvals.pending().length > 0) looking = look(); // asked before this channel was open
  return {
    async [Symbol.asyncDispose]() {
      for (const one of listening) one[Symbol.dispose]();
      stopping.abort(new Error("the channel is closing"));
      await looking;
      await telling.settled();
    },
  };
}

/** A question as it stands in its channel. */
interface Posted {
  readonly channel: string;
  readonly message: string;
}

async function show(
  { api, log }: QuestionDeps,
  channel: string,
  question: PendingApproval,
  signal: AbortSignal,
): Promise<Posted | "again" | null> {
  const buttons = buttonsFor(question.id);
  const words = buttons ? questionText(question) : null;
  const body = {
    content: words ?? tooLongText(question),
    nonce: nonceOf(question.id, 0),
    enforce_nonce: true,
    ...(words !== null && buttons ? { components: buttons } : {}),
  };
  try {
    const { id } = await api.channels.createMessage(channel, body, { signal });
    return { channel, message: id };
  } catch (error) {
    const { kind } = failureOf(error);
    if (!signal.aborted) log.warn("approval not shown on Discord", { approval: question.id, kind });
    return kind === "refused" ? null : "again"; // the nonce keeps one that has arrived all the same from being shown twice
  }
}

/** Nobody answered: the buttons go, and what became of the call is said below them. */
async function tell({ api, log }: QuestionDeps, posted: Posted, say: string, signal: AbortSignal): Promise<void> {
  const { channel, message } = posted;
  const body = { content: say, message_reference: { message_id: message, fail_if_not_exists: false } };
  try {
    await api.channels.editMessage(channel, message, { components: [] }, { signal });
    await api.channels.createMessage(channel, body, { signal });
  } catch (error) {
    if (!signal.aborted) log.debug("end of an approval not shown", { kind: failureOf(error).kind });
  }
}
