/** `pi-gw heartbeat` and `pi-gw webhooks` as commander sees them. */
import type { Command } from "commander";
import type { CliWorld, CommonFlags } from "./world.ts";
import type { TestFlags } from "./automations/webhooks.ts";

interface Adding {
  common(command: Command): Command;
  finish(code: number): void;
}

export function addHeartbeat(program: Command, world: CliWorld, { common, finish }: Adding): void {
  const heartbeat = program.command("heartbeat").description("what agents look after by themselves: their checklists");
  common(
    heartbeat.command("list").description("list agents with how often they look, and whether they have a checklist"),
  ).action(async (flags: CommonFlags) => {
    const { listHeartbeats } = await import("./automations/heartbeat.ts");
    finish(await listHeartbeats(world, flags));
  });
  common(heartbeat.command("show").description("print the checklist of an agent"))
    .argument("[agent]", "whose", "default")
    .action(async (agent: string, flags: CommonFlags) => {
      const { showChecklist } = await import("./automations/heartbeat.ts");
      finish(await showChecklist(world, agent, flags));
    });
  common(heartbeat.command("write").description("replace the checklist of an agent by the standard input"))
    .argument("[agent]", "whose", "default")
    .action(async (agent: string, flags: CommonFlags) => {
      const { writeChecklist } = await import("./automations/heartbeat.ts");
      finish(await writeChecklist(world, agent, flags));
    });
}

export function addWebhooks(program: Command, world: CliWorld, { common, finish }: Adding): void {
  const webhooks = program
    .command("webhooks")
    .description("requests of other programs, and addresses that results are posted to: list, try, new keys");
  common(webhooks.command("list").description("list webhooks in both directions, with the keys of each")).action(
    async (flags: CommonFlags) => {
      const { listWebhooks } = await import("./automations/webhooks.ts");
      finish(await listWebhooks(world, flags));
    },
  );
  common(webhooks.command("test").description("begin what a sender would begin with a body, signed as it would be"))
    .argument("<name>", "the webhook")
    .option("--body <json>", "what is sent; - reads the standard input", "{}")
    .action(async (name: string, flags: TestFlags) => {
      const { testWebhook } = await import("./automations/webhooks.ts");
      finish(await testWebhook(world, name, flags));
    });
  common(webhooks.command("test-target").description("post a test to a webhook target"))
    .argument("<name>", "the target")
    .action(async (name: string, flags: CommonFlags) => {
      const { testTarget } = await import("./automations/webhooks.ts");
      finish(await testTarget(world, name, flags));
    });
  common(webhooks.command("add-key").description("make a new key for the senders of a webhook; old ones stay good"))
    .argument("<name>", "the webhook")
    .action(async (name: string, flags: CommonFlags) => {
      const { addWebhookKey } = await import("./automations/webhooks.ts");
      finish(await addWebhookKey(world, name, flags));
    });
  common(webhooks.command("remove-key").description("refuse what is signed with a key from now on"))
    .argument("<name>", "the webhook")
    .argument("<key>", "its id from the list")
    .action(async (name: string, key: string, flags: CommonFlags) => {
      const { removeWebhookKey } = await import("./automations/webhooks.ts");
      finish(await removeWebhookKey(world, name, key, flags));
    });
}
