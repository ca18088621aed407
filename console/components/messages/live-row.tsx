/** The answer that is being written: its tool calls, approvals it waits for, and its words so far. */
import { Fragment } from "preact";
import { shownApprovals, shownQuestions } from "../../state/asking.ts";
import type { Live } from "../../state/chat.ts";
import { Markdown } from "../../text/markdown.tsx";
import { ApprovalCard } from "../approval-card.tsx";
import { ToolCard } from "../tool-card.tsx";
import { LiveReasoning } from "./reasoning.tsx";

export function LiveRow({ live }: { readonly live: Live }) {
  const asked = shownApprovals.value;
  return (
    <>
      {live.tools.map((tool) => (
        <Fragment key={tool.callId}>
          <ToolCard call={tool} />
          {asked
            .filter(({ callId }) => callId === tool.callId)
            .map((approval) => (
              <ApprovalCard key={approval.id} approval={approval} />
            ))}
        </Fragment>
      ))}
      <article
        class="row assistant live"
        data-testid="live"
        data-role="assistant"
        data-kind="live"
        aria-busy={!live.ended}
      >
        <LiveReasoning text={live.reasoning} />
        {live.text ? <Markdown text={live.text} /> : <Thinking words={whatItDoes(live)} />}
      </article>
    </>
  );
}

function whatItDoes({ tools, waiting }: Live): string {
  if (waiting !== null) return waiting;
  if (tools.some(({ status }) => status === "pending")) return "The assistant waits for your approval…";
  if (shownQuestions.value.some(({ end }) => end === null)) return "The assistant waits for your answer…";
  return tools.some(({ status }) => status === "running")
    ? "The assistant is using a tool…"
    : "The assistant is thinking…";
}

function Thinking({ words }: { readonly words: string }) {
  return (
    <p class="thinking">
      <span class="dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {words}
    </p>
  );
}
