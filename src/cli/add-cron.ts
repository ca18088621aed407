/** `pi-gw cron` as commander sees it. */
import type { Command } from "commander";
import type { CliWorld, CommonFlags } from "./world.ts";
import type { CronAction, CronAddFlags, CronFlags } from "./cron.ts";

type Common = (command: Command) => Command;

export function addCron(
  program: Command,
  world: CliWorld,
  { common, finish }: { common: Common; finish(code: number): void },
): void {
  const cron = program.command("cron").description("scheduled jobs: what is planned, make one, stop one");
  common(cron.command("list").description("list jobs, with when they are due"))
    .option("--failing", "only jobs whose last run failed")
    .action(async (flags: CommonFlags & { failing?: boolean }) => {
      const { listJobs } = await import("./cron.ts");
      finish(await listJobs(world, flags));
    });
  about(common(cron.command("add").description("make a job")))
    .argument("<task...>", "what the agent is asked to do")
    .option("--id <id>", "its name (default: a random one)")
    .action(async (words: string[], flags: CronAddFlags) => {
      const { addJob } = await import("./cron.ts");
      finish(await addJob(world, words, flags));
    });
  about(common(cron.command("update").description("change a job; what is not given stays")))
    .argument("<id>", "the job")
    .argument("[task...]", "what the agent is asked to do from now on")
    .action(async (id: string, words: string[], flags: CronFlags) => {
      const { updateJob } = await import("./cron.ts");
      finish(await updateJob(world, id, words, flags));
    });
  const actions: Readonly<Record<CronAction, string>> = {
    pause: "stop a job from running until it is resumed",
    resume: "let a paused or disabled job run again",
    run: "run a job now",
  };
  for (const [action, what] of Object.entries(actions) as [CronAction, string][])
    common(cron.command(action).description(what))
      .argument("<id>", "the job")
      .action(async (id: string, flags: CommonFlags) => {
        const { actOnJob } = await import("./cron.ts");
        finish(await actOnJob(world, action, id, flags));
      });
  addLooking(cron, world, { common, finish });
}

function about(command: Command): Command {
  return command
    .option("--when <words>", 'in plain words, such as "every weekday at 9"')
    .option("--every <duration>", "an interval, such as 30m")
    .option("--in <duration>", "once, after this long")
    .option("--at <moment>", "once, at a moment such as 2026-12-24T18:00:00Z, or in 20m")
    .option("--cron <fields>", 'a cron expression, such as "0 9 * * 1-5"')
    .option("--timezone <zone>", "such as Europe/Berlin")
    .option("--agent <id>", "the agent that does it")
    .option("--mode <mode>", "isolated or main")
    .option("--delivery <delivery>", "announce, direct or silent")
    .option("--catch-up <policy>", "slots that passed while nobody was there: skip, once or all")
    .option("--overlap <policy>", "a slot that comes while the one before runs: skip, queue or allow")
    .option("--timeout <duration>", "stop a run that takes longer, such as 10m")
    .option("--needs <tools>", "tools it cannot do without, with commas between them")
    .option("--once", "remove it after its first run");
}

function addLooking(
  cron: Command,
  world: CliWorld,
  { common, finish }: { common: Common; finish(code: number): void },
): void {
  common(cron.command("show").description("show one job: when, how, and its whole task"))
    .argument("<id>", "the job")
    .action(async (id: string, flags: CommonFlags) => {
      const { showJob } = await import("./cron.ts");
      finish(await showJob(world, id, flags));
    });
  common(cron.command("remove").description("remove a job"))
    .argument("<id>", "the job")
    .action(async (id: string, flags: CommonFlags) => {
      const { removeJob } = await import("./cron.ts");
      finish(await removeJob(world, id, flags));
    });
  common(cron.command("next").description("what a schedule means: in plain words, as cron, and its next five times"))
    .argument("[words...]", 'such as "every weekday at 9"')
    .option("--cron <fields>", 'a cron expression, such as "0 9 * * 1-5"')
    .option("--every <duration>", "an interval, such as 30m")
    .option("--at <moment>", "once, at a moment")
    .option("--timezone <zone>", "such as Europe/Berlin")
    .action(async (words: string[], flags: CronFlags) => {
      const { previewSchedule } = await import("./cron.ts");
      finish(await previewSchedule(world, words, flags));
    });
  common(cron.command("calendar").description("planned runs by day, from today on"))
    .option("--days <number>", "how many days, up to 42", Number, 7)
    .option("--timezone <zone>", "whose days (default: of this machine)")
    .action(async (flags: CommonFlags & { days?: number; timezone?: string }) => {
      const { showCalendar } = await import("./cron.ts");
      finish(await showCalendar(world, flags));
    });
  common(cron.command("status").description("whether jobs are on, and when the next one is due")).action(
    async (flags: CommonFlags) => {
      const { showCron } = await import("./cron.ts");
      finish(await showCron(world, flags));
    },
  );
  common(cron.command("runs").description("what became of each slot of a job"))
    .argument("<id>", "the job")
    .option("-n, --limit <number>", "how many", Number, 20)
    .action(async (id: string, flags: CommonFlags & { limit?: number }) => {
      const { showRuns } = await import("./cron.ts");
      finish(await showRuns(world, id, flags));
    });
  common(cron.command("wake").description("tell the assistant something in its main conversation"))
    .argument("<text...>", "the words")
    .option("--next-heartbeat", "not now: with its next turn there")
    .action(async (words: string[], flags: CommonFlags & { nextHeartbeat?: boolean }) => {
      const { wake } = await import("./cron.ts");
      finish(await wake(world, words, flags));
    });
}
