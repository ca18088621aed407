/** An approval, where it belongs in the conversation: what would run, for whom, how long there is, and the answers. Deny is as near as allow. */
import { useSignal } from "@preact/signals";
import type { ApprovalWish, PlainDecision } from "../../src/contracts/tools/approval.ts";
import type { Approval } from "../state/approvals.ts";
import { decideApproval } from "../state/asking.ts";
import { DECIDED } from "../state/news.ts";
import { callText } from "../text/call-text.ts";
import { AlwaysChoices } from "./always-choices.tsx";
import { AnswerCard, type Answering, TimeLeft, useAnswer } from "./answer-card.tsx";
import { CallPicture } from "./call-picture.tsx";
import type { IconName } from "./icons.tsx";
import { Problem } from "./parts/use-action.tsx";

const ENDS: Readonly<Record<NonNullable<Approval["decision"]>, IconName>> = {
  once: "check",
  session: "check",
  always: "check",
  deny: "blocked",
  expired: "clock",
};

export function ApprovalCard({ approval }: { readonly approval: Approval }) {
  const { id, tool, decision, say } = approval;
  const answering = useAnswer<ApprovalWish>((wish) => decideApproval(id, wish));
  const title = (
    <>
      <code>{tool}</code> {decision === null ? "waits for your approval" : `· ${DECIDED[decision]}`}
    </>
  );
  return (
    <AnswerCard
      kind="approval"
      icon={decision === null ? "clock" : ENDS[decision]}
      title={title}
      end={decision}
      answeredHere={answering.answeredHere}
    >
      {say !== undefined && <p class="because">{say}</p>}
      {decision === null && <Open approval={approval} answering={answering} />}
    </AnswerCard>
  );
}

function Open({
  approval,
  answering: { sent, problem, answer },
}: {
  readonly approval: Approval;
  readonly answering: Answering<ApprovalWish>;
}) {
  const button = (decision: PlainDecision, label: string, look: string) => (
    <button type="button" class={look} disabled={sent} onClick={() => answer(decision)}>
      {label}
    </button>
  );
  const choosing = useSignal(false);
  const { rules = [] } = approval;
  return (
    <>
      <p class="approval-who">
        For <b>{approval.principal}</b>, because {approval.because}. <TimeLeft until={approval.expiresAt} />
      </p>
      <CallPicture call={callText(approval.tool, approval.shown)} />
      <div class="approval-buttons">
        {button("once", "Allow once", "primary")}
        {button("deny", "Deny", "primary deny")}
        {button("session", "Allow for this conversation", "quiet edged")}
        {rules.length > 0 && (
          <button
            type="button"
            class="quiet edged"
            aria-expanded={choosing.value}
            disabled={sent}
            onClick={() => (choosing.value = !choosing.value)}
          >
            Always…
          </button>
        )}
      </div>
      {choosing.value && (
        <AlwaysChoices
          approval={approval}
          rules={rules}
          disabled={sent}
          onChoose={(reach) => answer({ always: reach })}
        />
      )}
      <Problem text={problem} />
    </>
  );
}
