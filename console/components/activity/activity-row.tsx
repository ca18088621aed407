/** One thing that happened: what, how it ended, how long it took and when. It leads to the turn that it belongs to. */
import type { ActivityEntry, ActivityKind, ActivityOutcome } from "../../../src/contracts/store/activity.ts";
import { ago, took } from "../../net/error-text.ts";
import { waitsForApproval } from "../../state/asking.ts";
import { ADDRESSES, turnAddress } from "../../state/route.ts";
import { Icon, type IconName } from "../icons.tsx";
import { dateText } from "../../text/dates.ts";
import { plainLine } from "../../text/plain-line.ts";

export const KIND_WORDS: Readonly<Record<ActivityKind, string>> = {
  turn: "Turn",
  tool: "Tool call",
  model: "Model call",
  job: "Job run",
  delivery: "Delivery",
};
const ICONS: Readonly<Record<ActivityKind, IconName>> = {
  turn: "chat",
  tool: "tools",
  model: "model",
  job: "clock",
  delivery: "send",
};
/** As tool cards say it. */
const STATUSES: Readonly<Record<ActivityOutcome, string>> = {
  ok: "success",
  failed: "error",
  stopped: "blocked",
  running: "running",
  unknown: "unknown",
};

export function ActivityRow({ entry }: { readonly entry: ActivityEntry }) {
  const { kind, outcome, turnId } = entry;
  const href = turnId === null ? (kind === "job" ? ADDRESSES.jobs : null) : turnAddress(turnId);
  const about = { class: "activity-line", "data-testid": "activity", "data-kind": kind } as const;
  return (
    <div class="tool activity" data-status={STATUSES[outcome]}>
      {href === null ? (
        <div {...about}>
          <Line entry={entry} />
        </div>
      ) : (
        <a {...about} href={href}>
          <Line entry={entry} />
        </a>
      )}
    </div>
  );
}

function Line({ entry }: { readonly entry: ActivityEntry }) {
  const { kind, at, ms, name, note, channel, person } = entry;
  const when = new Date(at);
  const from = [channel, person].filter((one) => one !== null && one !== "").join(", ");
  return (
    <>
      <span class="tool-status">
        <Icon name={ICONS[kind]} size={16} />
      </span>
      <span class="hidden">{KIND_WORDS[kind]}:</span>
      <span class="activity-name" dir="auto">
        {kind === "tool" || kind === "model" ? <code>{name}</code> : shownName(kind, name) || "(no words)"}
      </span>
      <span class="activity-word">{wordOf(entry)}</span>
      <span class="activity-note" dir="auto">
        {note}
      </span>
      <span class="activity-from">{from}</span>
      <span class="tool-ms">{ms === null ? "" : took(ms)}</span>
      <time dateTime={when.toISOString()} title={dateText(at, "whole")}>
        {ago(at, Date.now())}
      </time>
    </>
  );
}

/** Replies are Markdown. */
function shownName(kind: ActivityKind, name: string): string {
  return kind === "delivery" ? plainLine(name) : name;
}

/** What went well needs no word: the colour and the list around it say so. */
function wordOf({ kind, outcome, name, sessionKey, turnId }: ActivityEntry): string {
  if (outcome === "ok") return "";
  if (outcome === "running" && kind === "tool" && waitsForApproval({ tool: name, sessionKey, turnId }))
    return "waiting for approval";
  if (outcome === "stopped") return { tool: "not allowed", job: "skipped" }[kind as string] ?? "stopped";
  if (outcome === "unknown") return "outcome unknown";
  return outcome;
}
