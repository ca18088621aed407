/** What running turns say, for their previews: which turn is to be shown where, its words so far, its tools, and what it waits for. */
import type { Events } from "../../contracts/events.ts";
import type { InboxId, TurnId } from "../../contracts/ids.ts";
import { remember } from "./remember.ts";
import { noteTool, noTools, type ShownTools } from "./running-tools.ts";

/** How much of a turn its preview shows: all there is so far, whole paragraphs, or which tools are used. */
export type StreamMode = "off" | "partial" | "block" | "progress";

/** A turn as far as it has come. */
export interface TurnView {
  text: string;
  tools: ShownTools;
  /** What it waits for; empty: nothing. */
  waiting: string;
}

export const emptyView = (): TurnView => ({ text: "", tools: noTools(), waiting: "" });

/** `Spot`: where a platform shows something. */
interface TurnListener<Spot> {
  /** Any turn has begun, or begins again. */
  begun(turnId: TurnId): void;
  /** This one is to be shown there. */
  show(turnId: TurnId, spot: Spot): void;
  viewOf(turnId: TurnId): TurnView | undefined;
  /** Any turn has ended. */
  over(turnId: TurnId): void;
  /** More of an answer is never looked at. */
  readonly maxChars: number;
}

interface TurnViews<Spot> extends Disposable {
  /** The answer to this message is to be shown there. */
  expect(id: InboxId, spot: Spot): void;
}

const MAX_EXPECTED = 5_000;

export function hearTurns<Spot>(events: Pick<Events, "on">, listener: TurnListener<Spot>): TurnViews<Spot> {
  const spots = new Map<InboxId, Spot>();
  /** Turns that began before it was known where they are to be shown: storing a message and beginning its turn are not far apart. */
  const unplaced = new Map<InboxId, TurnId>();

  const begun = (turnId: TurnId, inboxIds: readonly InboxId[]): void => {
    listener.begun(turnId);
    const again = listener.viewOf(turnId);
    if (again) return void Object.assign(again, emptyView()); // what was said so far is void
    const spot = inboxIds.map((id) => spots.get(id)).findLast((one) => one !== undefined);
    for (const id of inboxIds) spots.delete(id);
    if (spot !== undefined) return listener.show(turnId, spot);
    for (const id of inboxIds) remember(unplaced, id, turnId, MAX_EXPECTED);
  };
  const change = (turnId: TurnId, edit: (view: TurnView) => void): void => {
    const view = listener.viewOf(turnId);
    if (!view) return;
    view.waiting = "";
    edit(view);
  };
  const listening = [
    events.on("turn.started", ({ turnId, inboxIds }) => begun(turnId, inboxIds)),
    events.on("turn.delta", ({ turnId, text }) =>
      change(turnId, (view) => {
        if (view.text.length < listener.maxChars) view.text += text;
      }),
    ),
    events.on("turn.tool", ({ turnId, ...call }) => change(turnId, ({ tools }) => noteTool(tools, call))),
    events.on("turn.waiting", ({ turnId, text }) => change(turnId, (view) => void (view.waiting = text))),
    events.on("turn.ended", ({ turnId, inboxIds }) => {
      for (const id of inboxIds) unplaced.delete(id);
      listener.over(turnId);
    }),
  ];
  return {
    expect(id, spot) {
      const turnId = unplaced.get(id);
      unplaced.delete(id);
      if (turnId === undefined) remember(spots, id, spot, MAX_EXPECTED);
      else if (!listener.viewOf(turnId)) listener.show(turnId, spot);
    },
    [Symbol.dispose]() {
      for (const one of listening) one[Symbol.dispose]();
    },
  };
}
