/** `/pair`: an owner lets somebody in by the code they were given, or sees who waits. */
import type { Pairing } from "../contracts/channels/pairing.ts";
import type { Command } from "../contracts/command.ts";
import { bullets } from "./words.ts";

const MAX_LISTED = 20;

export function pairCommand(pairing: Pick<Pairing, "approve" | "list">): Command {
  return {
    name: "pair",
    usage: "[code]",
    help: "Let somebody in by the code they were given; without one, who waits",
    roles: ["owner"],
    async run(args, { message }) {
      if (args === "") return waiting(pairing);
      const approval = await pairing.approve(args, message.sender.principal);
      if (approval.kind === "unknown")
        return "There is no such code, or its hour is over. Ask them to write again; they get a new one.";
      const { person, role } = approval;
      const named = person.name === "" ? "" : ` ("${person.name}")`;
      return `${person.principal}${named} may write on ${person.channel} from now on, as ${role === "owner" ? "an" : "a"} ${role}.`;
    },
  };
}

function waiting(pairing: Pick<Pairing, "list">): string {
  const people = pairing.list().filter(({ state }) => state === "pending");
  if (people.length === 0) return "Nobody waits to be let in.";
  const lines = people
    .slice(0, MAX_LISTED)
    .map(({ principal, name, channel }) => `${principal} "${name}" on ${channel}`);
  return ["These people wait:", bullets(lines), "", "`/pair CODE` lets in whoever tells you their code."].join("\n");
}
