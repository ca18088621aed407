/** `/pair`: an owner lets somebody in by the code they were given and with a role, or sees who waits. */
import type { Pairing } from "../contracts/channels/pairing.ts";
import type { Command } from "../contracts/command.ts";
import type { Role } from "../contracts/ids.ts";
import { bullets } from "./replies.ts";

const MAX_LISTED = 20;
const MS_PER_MINUTE = 60_000;
const ROLES: readonly Role[] = ["member", "owner", "guest"];
const USAGE =
  "Write `/pair CODE`, or `/pair CODE owner` to make them an owner. Roles: member (without a word), owner, guest.";

export function pairCommand(pairing: Pick<Pairing, "approve" | "list">): Command {
  return {
    name: "pair",
    usage: "[code] [role]",
    help: "Let somebody in by the code they were given, as a member unless you name a role; without a code, who waits",
    roles: ["owner"],
    async run(args, { message }) {
      if (args === "") return waiting(pairing);
      const asked = readArguments(args);
      if (!asked) return USAGE;
      const approval = await pairing.approve(asked, message.sender.principal);
      if (approval.kind === "locked")
        return `Too many wrong codes. Try again in ${Math.ceil(approval.retryAfterMs / MS_PER_MINUTE)} min.`;
      if (approval.kind !== "approved")
        return "There is no such code, or its hour is over. Ask them to write again; they get a new one.";
      const { person, role } = approval;
      const named = person.name === "" ? "" : ` ("${person.name}")`;
      return `${person.principal}${named} may write on ${person.channel} from now on, as ${role === "owner" ? "an" : "a"} ${role}.`;
    },
  };
}

/** The last word may be a role; the rest is the code, as people write it. */
function readArguments(args: string): { readonly code: string; readonly role: Role } | null {
  const words = args.trim().split(/\s+/);
  const named = ROLES.find((role) => role === words.at(-1)?.toLowerCase());
  const code = (named ? words.slice(0, -1) : words).join(" ");
  return code === "" ? null : { code, role: named ?? "member" };
}

function waiting(pairing: Pick<Pairing, "list">): string {
  const people = pairing.list().filter(({ state }) => state === "pending");
  if (people.length === 0) return "Nobody waits for access.";
  const lines = people
    .slice(0, MAX_LISTED)
    .map(({ principal, name, channel }) => `${principal} "${name}" on ${channel}`);
  const how = "`/pair CODE` lets in whoever tells you their code, as a member; `/pair CODE owner` as an owner.";
  return ["These people wait:", bullets(lines), "", how].join("\n");
}
