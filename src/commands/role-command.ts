/** `/role`: who you are here and why; for owners also what others are, and giving them another role. */
import type { RoleChange, RoleDirectory } from "../contracts/channels/roles.ts";
import type { Command, CommandContext } from "../contracts/command.ts";
import type { Role } from "../contracts/ids.ts";
import type { Log } from "../kit/log.ts";
import { bullets } from "./replies.ts";
import { EVERYONE } from "./roles.ts";

export interface RoleCommandDeps {
  readonly log: Log;
  readonly roles: RoleDirectory;
}

const ASKED = /^(\S+)\s+(owner|member|guest|none)$/i;
const MAX_LISTED = 50;
const FROM = { configuration: "by the configuration", chat: "given from a chat" } as const;
const REFUSED: Readonly<Record<Extract<RoleChange, { kind: "refused" }>["because"], string>> = {
  not_a_person: "That is not a person's id. Ids look like `telegram:user:123456`; names are never matched.",
  operator: "Whoever signs in to the page or holds the token is always an owner. That cannot be changed here.",
  named_in_config: "The configuration names this person, and it has the last word. Change `roles` there.",
  last_owner: "This is the only owner besides the operator. Make somebody else an owner first.",
};

export function roleCommand(deps: RoleCommandDeps, usableBy: (role: Role) => readonly string[]): Command {
  return {
    name: "role",
    usage: "[id owner|member|guest|none]",
    help: "What you may do here, and why; owners give roles to others",
    roles: EVERYONE,
    async run(args, context) {
      if (args === "") return show(deps, context, usableBy(context.role));
      if (context.role !== "owner") return "Only an owner of this gateway gives roles. `/role` alone shows your own.";
      return change(deps, args, context);
    },
  };
}

function show({ roles }: RoleCommandDeps, context: CommandContext, commands: readonly string[]): string {
  const { role } = context;
  const article = role === "owner" ? "an" : "a";
  const known = role === "owner" ? roles.people() : [];
  const lines = known.slice(0, MAX_LISTED).map((one) => `${one.principal}: ${one.role} (${FROM[one.from]})`);
  const more = known.length > MAX_LISTED ? [`and ${known.length - MAX_LISTED} more`] : [];
  const people = known.length > 0 ? ["", "People:", bullets([...lines, ...more])] : [];
  return [
    `You are ${article} ${role} here (\`${context.message.sender.principal}\`).`,
    bullets([
      ...roles.why(context).map((why) => `Why: ${why}`),
      ...roles.allows(context),
      `Commands: ${commands.map((name) => `/${name}`).join(" ")}`,
    ]),
    ...people,
    ...(role === "owner" ? ["", "`/role telegram:user:123456 member` gives a role, `none` takes it back."] : []),
  ].join("\n");
}

async function change({ roles, log }: RoleCommandDeps, args: string, context: CommandContext): Promise<string> {
  const [, principal = "", word = ""] = ASKED.exec(args) ?? [];
  if (principal === "")
    return "Write an id and a role: `/role telegram:user:123456 member`. Roles are owner, member, guest, none.";
  const wanted = word.toLowerCase();
  const role = wanted === "none" ? null : (wanted as Role);
  const by = context.message.sender.principal;
  const result = await roles.change({ principal, role, by });
  log.info("role change asked for", {
    principal,
    role: wanted,
    by,
    result: result.kind === "refused" ? result.because : result.kind,
  });
  if (result.kind === "refused") return REFUSED[result.because];
  if (role === null)
    return `${principal} has no role from here any more. What the configuration says about them holds.`;
  return `${principal} is ${role === "owner" ? "an" : "a"} ${role} from the next message on.`;
}
