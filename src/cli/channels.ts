/** `pi-gw channels`: how each account is, who may write to it, and what passed last. */
import { visible } from "../observe/index.ts";
import { printList } from "./ask-gateway.ts";
import { type Fields, numberOf, recordOf, textOf } from "./read-value.ts";
import { durationText } from "./status.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

const ID_CHARS = 20;

export function listChannels(world: CliWorld, flags: CommonFlags): Promise<number> {
  const now = world.clock.now();
  return printList(world, flags, "/api/channels", {
    line: (card) => visible(cardLine(card, now)),
    none: "There are no channels.",
  });
}

function cardLine(card: Fields, now: number): string {
  const ago = (at: unknown): string => `${durationText(Math.max(0, now - numberOf(at)))} ago`;
  const state = card["ok"] === true ? "connected" : "not connected";
  const detail = textOf(card["detail"]) === "" ? "" : ` (${textOf(card["detail"])})`;
  const received = recordOf(card["lastReceived"]);
  const heard =
    card["lastReceived"] === null
      ? "no message yet"
      : `last message ${ago(received["at"])} from ${textOf(received["from"])}`;
  const lost = recordOf(card["lastLost"]);
  const trouble = card["lastLost"] === null ? "" : `, a reply was lost ${ago(lost["at"])}: ${textOf(lost["because"])}`;
  const access = recordOf(card["access"]);
  const who =
    card["own"] === true ? "" : `, direct messages: ${textOf(access["dm"])}, groups: ${textOf(access["group"])}`;
  return `${textOf(card["id"]).padEnd(ID_CHARS)}  ${state}${detail}, ${heard}${who}${trouble}`;
}
