/** One turn from its message to the delivery of its reply: how it ended, and where its time went. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { took } from "../../net/error-text.ts";
import { activityNews } from "../../state/news.ts";
import { readTurn, type Turn } from "../../state/activity-state.ts";
import { titleOf } from "../../state/asking.ts";
import { address } from "../../state/console-state.ts";
import { ADDRESSES, hashOf, turnIdOf } from "../../state/route.ts";
import { waterfallOf } from "../../text/waterfall.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { ToolCard } from "../tool-card.tsx";
import { FactList } from "../parts/fact-list.tsx";
import { WaterfallRows } from "./waterfall-rows.tsx";
import { dateText } from "../../text/dates.ts";

type Read = { readonly id: string; readonly turn: Turn | null; readonly problem: string | null };

export function TurnView() {
  const id = turnIdOf(address.value) ?? "";
  const read = useSignal<Read | null>(null);
  const ended = read.value?.turn?.deliveredAt !== null && read.value?.turn !== undefined;
  useEffect(() => {
    if (ended && read.value?.id === id) return;
    void readTurn(id).then((answer) => {
      if (turnIdOf(address.value) !== id) return;
      read.value = answer.ok
        ? { id, turn: answer.value, problem: null }
        : { id, turn: null, problem: answer.error.message };
    });
  }, [id, activityNews.value]);
  const now = read.value?.id === id ? read.value : null;
  return (
    <ViewFrame name="Turn" testId="turn-view">
      <p class="back">
        <a href={ADDRESSES.activity}>Activity</a>
      </p>
      {now === null && <p class="list-note">Reading…</p>}
      {now !== null && now.turn === null && (
        <EmptyState title="This turn could not be read.">
          <p>{now.problem}</p>
        </EmptyState>
      )}
      {now?.turn && <OneTurn found={now.turn} />}
    </ViewFrame>
  );
}

const OUTCOMES = { done: "Went well", failed: "Failed", aborted: "Stopped" } as const;

function OneTurn({ found }: { readonly found: Turn }) {
  const { turn, spans, deliveredAt, toolCalls, because } = found;
  const { outcome, usage, sessionKey } = turn;
  const waterfall = waterfallOf(spans);
  const facts: readonly (readonly [string, string])[] = [
    ["Message", dateText(turn.acceptedAt, "whole")],
    ["Reply", deliveredAt === null ? replyText(turn) : `delivered ${dateText(deliveredAt, "whole")}`],
    ["Model", turn.model ?? "none was asked"],
    ["Tokens", `${usage.inputTokens.toLocaleString()} in, ${usage.outputTokens.toLocaleString()} out`],
    ["Cost", `$${usage.costUsd.toFixed(4)}`],
    ["Agent", turn.agentId],
    ...(turn.attempt > 1 ? [["Attempts", String(turn.attempt)] as const] : []),
    ...(turn.errorCode === null ? [] : [["Error code", turn.errorCode] as const]),
  ];
  return (
    <>
      <section class="part">
        <h2>
          {outcome === null ? "Running" : OUTCOMES[outcome]}
          {waterfall.totalMs > 0 && `, ${took(waterfall.totalMs)} in all`}
        </h2>
        {because !== undefined && (
          <p class="about" dir="auto">
            {because}
          </p>
        )}
        {waterfall.slowest !== null && (
          <p class="about" dir="auto">
            Most of the time: {waterfall.slowest}.
          </p>
        )}
        <FactList
          facts={[
            ...facts,
            [
              "Conversation",
              <a href={hashOf(sessionKey)} dir="auto">
                {titleOf(sessionKey)}
              </a>,
            ],
          ]}
        />
      </section>
      <section class="part">
        <h2>Where the time went</h2>
        {waterfall.bars.length === 0 ? (
          <p class="about">
            {outcome === null ? "This is known when the turn has ended." : "Nothing was measured for this turn."}
          </p>
        ) : (
          <WaterfallRows waterfall={waterfall} />
        )}
      </section>
      {toolCalls.length > 0 && (
        <section class="part">
          <h2>Tool calls</h2>
          {toolCalls.map((call, index) => (
            <ToolCard key={index} call={call} />
          ))}
        </section>
      )}
    </>
  );
}

function replyText({ outcome, endedAt }: Turn["turn"]): string {
  if (outcome === null) return "not written yet";
  return endedAt === null ? "none" : "not delivered yet, or there was none";
}
