/**
 * Approvals as messages with buttons, each in the chat that its turn works for. An approval is posted once, and once more only when the platform
 * says that nothing was posted. One that nobody answered loses its buttons, and its chat is told. Only owners decide.
 */
import type { ApprovalNews, PendingApproval } from "../../contracts/tools/approval.ts";
import type { ApprovalMessages, ApprovalPlatform } from "../../contracts/channels/channel-kit.ts";
import type { PlatformDeps } from "../../contracts/channels/platform.ts";
import type { ChatAddress } from "../../contracts/chat.ts";
import { remember } from "./remember.ts";
import { createTasks } from "./tasks.ts";

interface Posting {
  readonly to: ChatAddress;
  /** Null while the platform has not answered: a press may be faster. */
  messageId: string | null;
  /** Never rejects. */
  done: Promise<void>;
}

/** Pause after which a post is tried again that the platform did not get. */
export const POST_AGAIN_MS = 1_000;
const MAX_POSTED = 1_000;

export function startApprovalMessages(
  deps: Pick<PlatformDeps, "clock" | "log" | "approvals" | "events">,
  platform: ApprovalPlatform,
  signal: AbortSignal,
): ApprovalMessages {
  const { clock, log, approvals, events } = deps;
  const postings = new Map<string, Posting>();
  const tasks = createTasks(() => log.debug("end of an approval not shown"));
  let isOpen = false;

  const isPending = (id: string): boolean => approvals.pending().some((one) => one.id === id);
  const post = async (approval: PendingApproval, posting: Posting): Promise<void> => {
    while (!signal.aborted && isPending(approval.id)) {
      try {
        posting.messageId = await platform.post(approval, signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        const nextTryInMs = platform.retryAfterMs(error);
        log.warn("approval not shown", { approval: approval.id, nextTryInMs });
        if (nextTryInMs === null) return;
        await clock.sleep(nextTryInMs, signal).catch(() => undefined); // closing is the normal end
      }
    }
  };
  const show = (approval: PendingApproval): void => {
    const { id, origin } = approval;
    if (origin.channel !== platform.channel || origin.account !== platform.account || postings.has(id)) return;
    const posting: Posting = { to: origin, messageId: null, done: Promise.resolve() };
    posting.done = tasks.add(post(approval, posting));
    remember(postings, id, posting, MAX_POSTED);
  };
  const expire = async (id: string, say: string): Promise<void> => {
    const posting = postings.get(id);
    postings.delete(id);
    await posting?.done;
    if (!posting?.messageId) return;
    await platform.removeButtons(posting.to, posting.messageId, signal);
    await platform.reply(posting.to, posting.messageId, say, signal);
  };
  const hear = (news: ApprovalNews): void => {
    if (news.decision === null && isOpen) show(news);
    if (news.decision === "expired" && news.say) void tasks.add(expire(news.id, news.say));
  };
  const listening = events.on("approval", hear);

  return {
    open() {
      isOpen = true;
      approvals.pending().forEach(show);
    },
    async decide({ approval, decision, messageId, by, role }) {
      if (role !== "owner") return "not_allowed";
      const posting = postings.get(approval);
      const isHere = posting?.to.chat === by.address.chat && (posting.messageId ?? messageId) === messageId;
      if (!isHere) return "over";
      const outcome = await approvals.decide(approval, decision, by.sender.principal, by);
      return outcome === "done" ? "decided" : outcome === "unknown" ? "over" : "not_allowed";
    },
    settled: () => tasks.settled(),
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}
