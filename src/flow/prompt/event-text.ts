/** System events as a model reads them: tasks go into the block of facts, text of others into blocks of its own that cannot pass for facts. */
import type { RealText } from "../../contracts/agent.ts";
import type { ClaimedEvents, SystemEvent } from "../../contracts/automation/system-event.ts";
import type { Ids } from "../../kit/ids.ts";
import { oneLine } from "../../kit/marks/markers.ts";
import { wrapUntrusted } from "../../kit/marks/untrusted.ts";

interface EventText {
  /** For the block of facts. */
  readonly lines: readonly string[];
  /** After it, in the order of the lines. */
  readonly blocks: readonly string[];
  /** Blocks that the model of this turn reads otherwise than they are kept. */
  readonly realTexts: readonly RealText[];
}

export function eventText(ids: Ids, { events, hidden }: ClaimedEvents): EventText {
  const lines = events.map(lineOf);
  const realTexts: RealText[] = [];
  const blocks = events
    .filter(({ kind }) => kind !== "task")
    .map(({ source, text, real }) => {
      const kept = wrapUntrusted(ids, { source, text });
      if (real !== undefined) realTexts.push({ kept, real: wrapUntrusted(ids, { source, text: real }) });
      return kept;
    });
  const more = hidden > 0 ? [`earlier events, not shown: ${hidden}`] : [];
  return { lines: [...more, ...lines], blocks, realTexts };
}

function lineOf({ kind, source, text }: SystemEvent): string {
  const from = oneLine(source);
  if (kind === "task") return `due now, from ${from}, do it and tell the person the result: ${text}`;
  if (kind === "news")
    return `news from ${from}, in a block of its own below: pass on to the person what matters in it`;
  return `${from} has told the person what is in a block of its own below; do not repeat it`;
}
