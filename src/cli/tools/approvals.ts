/** `pi-gw approvals list|decide`: which calls wait for the owner, and answering one from a terminal. */
import { writeOutJson } from "../../kit/marks/written-out.ts";
import { visible } from "../../observe/index.ts";
import { printAnswer, printList } from "../ask-gateway.ts";
import { type Fields, numberOf, textOf } from "../read-value.ts";
import type { CliWorld, CommonFlags } from "../world.ts";

const MS_PER_MINUTE = 60_000;

export function approvalsList(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printList(world, flags, "/api/approvals", {
    line: (approval) => approvalText(world, approval),
    none: "No tool call waits for approval.",
  });
}

export function approvalsDecide(world: CliWorld, id: string, decision: string, flags: CommonFlags): Promise<number> {
  const path = `/api/approvals/${encodeURIComponent(id)}`;
  return printAnswer(world, flags, { method: "POST", path: path, body: { decision } }, (answer) =>
    visible(textOf(answer["decision"])),
  );
}

/** Whole: nobody should decide on a part of it. */
function approvalText({ clock }: CliWorld, one: Fields): string {
  const minutes = Math.max(0, Math.ceil((numberOf(one["expiresAt"]) - clock.now()) / MS_PER_MINUTE));
  const facts = [one["tool"], "for", one["principal"], "in", one["sessionKey"]].map(textOf).join(" ");
  const head = `${textOf(one["id"])}  ${facts}, because ${textOf(one["because"])} (${minutes} min left)`;
  return `${visible(head)}\n${writeOutJson(one["input"])}\n`;
}
