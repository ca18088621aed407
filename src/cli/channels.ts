/** `pi-gw channels`: how each account is, who may write to it, and what passed last. */
import { printList } from "./ask-gateway.ts";
import { type Fields, numberOf, recordOf, textOf } from "./read-value.ts";
import { durationText } from "./status.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export function listChannels(world: CliWorld, flags: CommonFlags): Promise<number> {
  const now = world.clock.now();
  return printList(world, flags, "/api/channels", {
    columns: [
      ["CHANNEL", ({ id }) => textOf(id)],
      ["STATE", stateText],
      ["LAST MESSAGE", ({ lastReceived }) => receivedText(lastReceived, now)],
      ["WHO MAY WRITE", accessText],
      ["TROUBLE", ({ lastLost }) => lostText(lastLost, now)],
    ],
    none: "There are no channels.",
  });
}

function stateText({ ok, detail }: Fields): string {
  const state = ok === true ? "connected" : "not connected";
  return textOf(detail) === "" ? state : `${state} (${textOf(detail)})`;
}

function receivedText(last: unknown, now: number): string {
  const { at, from } = recordOf(last);
  return last === null ? "none yet" : `${agoText(at, now)} from ${textOf(from)}`;
}

function lostText(last: unknown, now: number): string {
  const { at, because } = recordOf(last);
  return last === null ? "" : `a reply was lost ${agoText(at, now)}: ${textOf(because)}`;
}

/** Channels of the gateway's own are behind the operator's token. */
function accessText({ own, access }: Fields): string {
  const { dm, group } = recordOf(access);
  return own === true ? "the operator" : `direct messages: ${textOf(dm)}, groups: ${textOf(group)}`;
}

function agoText(at: unknown, now: number): string {
  return `${durationText(Math.max(0, now - numberOf(at)))} ago`;
}
