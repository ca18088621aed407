/** What a notification says about each thing that waits for a person. Whole texts: where they leave they are masked, and then cut. Pure. */
import type { PairedPerson } from "../contracts/channels/pairing.ts";
import type { OpenQuestion } from "../contracts/channels/question.ts";
import type { JobRun } from "../contracts/automation/job.ts";
import type { TroubledPart } from "../contracts/delivery.ts";
import type { NotificationChoice, PushNotice } from "../contracts/notifications.ts";
import type { PendingApproval } from "../contracts/tools/approval.ts";
import { writeOut } from "../kit/marks/written-out.ts";

/** As much as phones and computers show of a notification. A longer call is allowed where all of it is seen. */
export const MAX_WHOLE_CHARS = 240;
const INBOX = "/inbox";

/** The text of an approval, before a browser's tokens are in it. */
interface ApprovalText extends Omit<PushNotice, "approval"> {
  /** What may be decided in the notification: a call that is not shown whole can only be denied there. */
  readonly choices: readonly NotificationChoice[];
}

export function approvalText({ id, tool, because, input, shown }: PendingApproval): ApprovalText {
  const call = callText(input, shown);
  const isWhole = call.length <= MAX_WHOLE_CHARS;
  return {
    title: `Allow ${tool}?`,
    body: isWhole
      ? `${call}\n(${because})`
      : `Too long for a notification. Open it to see all of it and to allow it.\n${call}`,
    tag: `approval-${id}`,
    view: INBOX,
    choices: isWhole ? ["once", "deny"] : ["deny"],
  };
}

/** A command as it is; everything else as JSON. Hidden characters are written out in both. */
function callText(input: unknown, shown: string): string {
  const values = typeof input === "object" && input !== null ? Object.values(input) : [];
  const [only] = values;
  return values.length === 1 && typeof only === "string" ? writeOut(only) : shown;
}

export function questionNotice({ id, question }: OpenQuestion): PushNotice {
  const text = question.kind === "confirm" ? (question.text ?? "") : "";
  return {
    title: writeOut(question.title),
    body: text === "" ? "The assistant waits for your answer." : writeOut(text),
    tag: `question-${id}`,
    view: INBOX,
  };
}

export function personNotice({ id, name, channel }: PairedPerson): PushNotice {
  return {
    title: "Somebody asks for access",
    body: `${writeOut(name)} wrote on ${channel}. Ask them for their code, and enter it in the Inbox.`,
    tag: `person-${id}`,
    view: INBOX,
  };
}

export function jobNotice({ jobId, reason }: Pick<JobRun, "jobId" | "reason">): PushNotice {
  return { title: `The job ${jobId} failed`, body: reason ?? "Its run failed.", tag: `job-${jobId}`, view: INBOX };
}

export function replyNotice({ state, to, because }: Pick<TroubledPart, "state" | "to" | "because">): PushNotice {
  return {
    title: state === "dead" ? "A reply was not delivered" : "A reply may have arrived twice, or not at all",
    body: `To ${to.channel}: ${because}`,
    tag: `reply-${to.channel}`,
    view: INBOX,
  };
}

export const TEST_NOTICE: PushNotice = {
  title: "Notifications work",
  body: "This browser is told when something waits for you.",
  tag: "test",
  view: INBOX,
};
