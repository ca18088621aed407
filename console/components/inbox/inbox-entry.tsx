/** One thing that needs a person, shown as what it is, with what can be done about it. */
import type { Approval } from "../../state/approvals.ts";
import { titleOf } from "../../state/asking.ts";
import { dismiss, dismissed, sentAgain, undoDismiss } from "../../state/inbox-state.ts";
import { dismissalOf, type InboxItem, type InboxRow } from "../../state/inbox.ts";
import { approvals, questions } from "../../state/news.ts";
import { peopleRows } from "../../state/people.ts";
import { hashOf } from "../../state/route.ts";
import { ApprovalCard } from "../approval-card.tsx";
import { Person } from "../channels/person.tsx";
import { useLastingHeight } from "../parts/lasting-height.ts";
import { QuestionCard } from "../question-card.tsx";
import { ConfigTrouble, FailingJob, LostReply } from "./troubles.tsx";

export function InboxEntry({ row }: { readonly row: InboxRow }) {
  const { item, over } = row;
  return (
    <li
      ref={useLastingHeight()}
      tabindex={-1}
      data-testid="inbox-item"
      data-id={item.id}
      data-kind={item.kind}
      data-over={over}
    >
      <Content row={row} />
      {dismissed.value.has(dismissalOf(item)) ? (
        <p class="inbox-over" role="status">
          Dismissed{" "}
          <button type="button" class="quiet small" onClick={() => undoDismiss(item)}>
            Undo
          </button>
        </p>
      ) : (
        over && item.kind !== "person" && <Over item={item} />
      )}
    </li>
  );
}

function Content({ row: { item, over } }: { readonly row: InboxRow }) {
  switch (item.kind) {
    case "approval":
      return (
        <>
          <ApprovalCard approval={latest(item.approval)} />
          <Where session={item.approval.sessionKey} />
        </>
      );
    case "question":
      return (
        <>
          <QuestionCard asked={questions.value.find(({ id }) => id === item.question.id) ?? item.question} />
          <Where session={item.question.sessionKey} />
        </>
      );
    case "person": {
      const shown = peopleRows.value?.find(({ person }) => person.id === item.person.id);
      return <Person row={shown ?? { person: item.person, gone: false, decided: null }} />;
    }
    case "config":
      return <ConfigTrouble problems={item.problems} />;
    case "job":
      return <FailingJob job={item.job} onDismiss={() => dismiss(item)} />;
    case "reply":
      return <LostReply reply={item.reply} over={over} onDismiss={() => dismiss(item)} />;
  }
}

/** With how it was decided, here or elsewhere. */
function latest(approval: Approval): Approval {
  const known = approvals.value.find(({ id }) => id === approval.id);
  return known
    ? { ...approval, decision: known.decision, ...(known.say === undefined ? {} : { say: known.say }) }
    : approval;
}

function Where({ session }: { readonly session: string }) {
  return (
    <p class="inbox-where">
      In{" "}
      <a href={hashOf(session)} dir="auto">
        {titleOf(session)}
      </a>
    </p>
  );
}

/** Cards of approvals and questions say themselves how they ended. */
function Over({ item }: { readonly item: InboxItem }) {
  if (item.kind === "approval" || item.kind === "question") return null;
  const isSent = item.kind === "reply" && sentAgain.value.has(item.reply.id);
  return <p class="inbox-over">{isSent ? "It is being sent again." : "This is over."}</p>;
}
