/** `pi-gw people` and `models` as commander sees them. */
import type { Command } from "commander";
import type { ModelFlags } from "./people.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

type Commander = typeof import("commander");
type Common = (command: Command) => Command;

export function addPeople(
  program: Command,
  commander: Commander,
  world: CliWorld,
  { common, finish }: { common: Common; finish(code: number): void },
): void {
  const load = () => import("./people.ts");
  const people = program.command("people").description("who has which role, and giving somebody another one");
  common(people.command("list").description("everybody with a role, and where it comes from")).action(
    async (flags: CommonFlags) => finish(await (await load()).peopleList(world, flags)),
  );
  common(people.command("role").description("give somebody a role, or withdraw it"))
    .argument("<person>", "their id, such as telegram:user:123")
    .addArgument(new commander.Argument("<role>", "the role").choices(["owner", "member", "guest", "none"]))
    .addHelpText(
      "after",
      `
Examples:
  pi-gw people role telegram:user:123 member
  pi-gw people role telegram:user:123 none   # withdraws what was given`,
    )
    .action(async (person: string, role: string, flags: CommonFlags) =>
      finish(await (await load()).peopleRole(world, person, role, flags)),
    );
  common(program.command("models").description("the models that an agent can be told to use; * marks the current one"))
    .option("--agent <id>", "of this agent (default: the default agent)")
    .addHelpText("after", "\nExamples:\n  pi-gw models\n  pi-gw models --agent helper --json")
    .action(async (flags: ModelFlags) => finish(await (await load()).modelsList(world, flags)));
}
