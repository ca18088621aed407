/** `pi-gw sessions` as commander sees it. */
import type { Command } from "commander";
import type { SessionsFlags } from "./sessions.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

type Commander = typeof import("commander");
type Common = (command: Command) => Command;

const EXPORTS = ["markdown", "json", "html"];
const MARKS = [
  ["pin", { pinned: true }, "keep a conversation at the top of the list"],
  ["unpin", { pinned: false }, "let a conversation go from the top of the list"],
  ["archive", { archived: true }, "take a conversation out of the list; it is still found"],
  ["unarchive", { archived: false }, "put a conversation back into the list"],
] as const;

export function addSessions(
  program: Command,
  commander: Commander,
  world: CliWorld,
  { common, finish, limit }: { common: Common; finish(code: number): void; limit(text: string): number },
): void {
  const sessions = program
    .command("sessions")
    .description("look at conversations, find what was said, keep, stop or delete one");
  const limited = (command: Command, what: string): Command =>
    common(command).option("-n, --limit <number>", what, limit, 20);
  limited(sessions.command("list").description("list conversations, the latest first"), "how many to list")
    .argument("[words...]", "only those whose title or key has these words")
    .action(async (words: string[], flags: SessionsFlags) => {
      const { listSessions } = await import("./sessions.ts");
      finish(await listSessions(world, words, flags));
    });
  limited(sessions.command("show").description("show a conversation"), "how many messages to show")
    .argument("<session>", "a short name or a full session key")
    .action(async (session: string, flags: SessionsFlags) => {
      const { showSession } = await import("./sessions.ts");
      finish(await showSession(world, session, flags));
    });
  common(sessions.command("reset").description("begin a conversation anew; what was said is kept"))
    .argument("<session>", "a short name or a full session key")
    .action(async (session: string, flags: CommonFlags) => {
      const { resetSession } = await import("./sessions.ts");
      finish(await resetSession(world, session, flags));
    });
  limited(sessions.command("search").description("find what was said, newest first"), "how many to list")
    .argument("<words...>", "words that the message has, all of them")
    .action(async (words: string[], flags: SessionsFlags) => {
      const { searchSessions } = await import("./session-care.ts");
      finish(await searchSessions(world, words, flags));
    });
  common(sessions.command("export").description("write a conversation as a file"))
    .argument("<session>", "a short name or a full session key")
    .addOption(new commander.Option("--format <format>", "of the file").choices(EXPORTS).default("markdown"))
    .action(async (session: string, flags: CommonFlags & { format: string }) => {
      const { exportSession } = await import("./session-care.ts");
      finish(await exportSession(world, session, flags));
    });
  common(sessions.command("delete").description("delete a conversation with its files; the audit log stays"))
    .argument("<session>", "a short name or a full session key")
    .option("--yes", "do not ask, delete")
    .action(async (session: string, flags: CommonFlags & { yes?: boolean }) => {
      const { deleteSession } = await import("./session-care.ts");
      finish(await deleteSession(world, session, flags));
    });
  for (const [name, marks, description] of MARKS)
    common(sessions.command(name).description(description))
      .argument("<session>", "a short name or a full session key")
      .action(async (session: string, flags: CommonFlags) => {
        const { markSession } = await import("./session-care.ts");
        finish(await markSession(world, session, marks, flags));
      });
  addSettings(sessions, world, { common, finish });
  addGoingOn(sessions, world, { common, finish });
  common(sessions.command("abort").description("stop the answer that is being written"))
    .argument("<session>", "a short name or a full session key")
    .action(async (session: string, flags: CommonFlags) => {
      const { abortSession } = await import("./sessions.ts");
      finish(await abortSession(world, session, flags));
    });
}

/** Name, model and thinking. */
function addSettings(
  sessions: Command,
  world: CliWorld,
  { common, finish }: { common: Common; finish(code: number): void },
): void {
  common(sessions.command("rename").description("give a conversation a name"))
    .argument("<session>", "a short name or a full session key")
    .argument("[name...]", "left out: the name that its first message gives")
    .action(async (session: string, words: string[], flags: CommonFlags) => {
      const { renameSession } = await import("./session-care.ts");
      finish(await renameSession(world, session, words, flags));
    });
  common(sessions.command("set").description("choose the model of a conversation, and how much it thinks"))
    .argument("<session>", "a short name or a full session key")
    .option("--model <name>", 'as pi-gw models lists it; "default": the agent\'s own')
    .option("--thinking <level>", 'such as low or high; "default": the agent\'s own')
    .action(async (session: string, flags: CommonFlags & { model?: string; thinking?: string }) => {
      const { setSession } = await import("./session-care.ts");
      finish(await setSession(world, session, flags));
    });
}

/** Commands that go on from an earlier message. */
function addGoingOn(
  sessions: Command,
  world: CliWorld,
  { common, finish }: { common: Common; finish(code: number): void },
): void {
  common(sessions.command("branch").description("begin another conversation with what was said in one so far"))
    .argument("<session>", "a short name or a full session key")
    .argument("[message]", "the id of a message or reply; left out: all of it")
    .option("--name <name>", "a short name for the new session")
    .action(async (session: string, message: string | undefined, flags: CommonFlags & { name?: string }) => {
      const { branchSession } = await import("./session-care.ts");
      finish(await branchSession(world, { session, message }, flags));
    });
  common(sessions.command("resend").description("send a message again from the point where it was sent"))
    .argument("<session>", "a short name or a full session key")
    .argument("<message>", "the id of a message, or of the reply to it")
    .option("--text <words>", "other words for the message")
    .action(async (session: string, message: string, flags: CommonFlags & { text?: string }) => {
      const { resendMessage } = await import("./session-care.ts");
      finish(await resendMessage(world, { session, message }, flags));
    });
}
