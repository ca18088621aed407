/** `pi-gw people` and `models` as commander sees them. */
import type { Command } from "commander";
import type { KeyTestFlags, ModelFlags } from "./people.ts";
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
    .action(async (person: string, role: string, flags: CommonFlags) =>
      finish(await (await load()).peopleRole(world, person, role, flags)),
    );
  const models = program.command("models").description("models that can answer, and the keys of their providers");
  common(models.command("list").description("the models that an agent can be told to use; * marks the current one"))
    .option("--agent <id>", "of this agent (default: the default agent)")
    .action(async (flags: ModelFlags) => finish(await (await load()).modelsList(world, flags)));
  common(models.command("providers").description("providers of models, and where the key of each comes from")).action(
    async (flags: CommonFlags) => finish(await (await load()).providersList(world, flags)),
  );
  common(
    models.command("test").description("try a provider's key: asks for the list of its models, which costs nothing"),
  )
    .argument("<provider>", "such as openai")
    .option("--key-stdin", "try the first line of the standard input instead of the key that is set")
    .action(async (provider: string, flags: KeyTestFlags) =>
      finish(await (await load()).testModelKey(world, provider, flags)),
    );
}
