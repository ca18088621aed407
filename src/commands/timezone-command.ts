/** `/timezone`: the zone in which a person's words such as "18:00" are read, and that the assistant is told. Kept for the person, not the chat. */
import type { PersonTimes } from "../contracts/automation/when.ts";
import type { Command } from "../contracts/command.ts";
import { EVERYONE } from "./roles.ts";

export function timezoneCommand({ people }: { readonly people: Omit<PersonTimes, "read"> }): Command {
  return {
    name: "timezone",
    usage: "[Europe/Berlin|default]",
    help: "The time zone in which your times are read",
    roles: EVERYONE,
    async run(args, { message: { sender } }) {
      const { principal } = sender;
      const zone = args.trim();
      if (zone === "") {
        const own = people.zoneOf(principal);
        if (own !== undefined)
          return `Your times are read in ${own}. \`/timezone default\` goes back to ${people.hostZone()}.`;
        return `Your times are read in ${people.hostZone()}, the zone of the machine. \`/timezone Europe/Berlin\` chooses another.`;
      }
      const next = zone.toLowerCase() === "default" ? null : zone;
      if (!(await people.choose(principal, next)))
        return `"${zone.slice(0, 64)}" is not a time zone. Use a name such as Europe/Berlin or America/New_York.`;
      return `Your times are read in ${next ?? people.hostZone()} from now on.`;
    },
  };
}
