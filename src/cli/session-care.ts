/** `pi-gw sessions search|export|delete|pin|archive|rename|set|branch|resend`: what people do with conversations besides talking. */
import { GatewayError } from "../contracts/errors.ts";
import { visible } from "../observe/index.ts";
import { askGateway, printAnswer, printList, queryOf } from "./ask-gateway.ts";
import { EXIT_OK } from "./exit-code.ts";
import { type Fields, numberOf, recordOf, textOf } from "./read-value.ts";
import type { SessionsFlags } from "./sessions.ts";
import { durationText } from "./status.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

const USUAL_HITS = 20;

export function searchSessions(world: CliWorld, words: readonly string[], flags: SessionsFlags): Promise<number> {
  const query = queryOf({ q: words.join(" "), limit: flags.limit ?? USUAL_HITS });
  const now = world.clock.now();
  return printList(world, flags, `/api/search?${query}`, {
    line: (hit) => visible(hitLine(hit, now)),
    none: "Nothing was said with these words.",
  });
}

function hitLine(hit: Fields, now: number): string {
  const ago = durationText(Math.max(0, now - numberOf(hit["at"])));
  return `${textOf(hit["sessionKey"])}  ${textOf(hit["role"])}, ${ago} ago: ${textOf(hit["snippet"])}`;
}

/** The file goes to stdout: where to keep it is the shell's business. */
export async function exportSession(
  world: CliWorld,
  session: string,
  flags: CommonFlags & { readonly format: string },
): Promise<number> {
  const answer = await askGateway(world, flags, (client, signal) =>
    client.ask({ path: `${pathOf(session)}/export?${queryOf({ format: flags.format })}` }, signal),
  );
  world.stdout(flags.json ? `${JSON.stringify(answer)}\n` : textOf(answer["text"]));
  return EXIT_OK;
}

const WHAT_GOES =
  "This deletes what was said, its files and pictures, and what the assistant remembers of it. Tool calls stay in the audit log, and so does what was spent; messages on other platforms stay there.";

export function deleteSession(
  world: CliWorld,
  session: string,
  flags: CommonFlags & { readonly yes?: boolean },
): Promise<number> {
  if (!flags.yes) throw new GatewayError("bad_request", "not confirmed", { say: `${WHAT_GOES} Add --yes to do it.` });
  return printAnswer(world, flags, { method: "DELETE", path: pathOf(session) }, (answer) => {
    const deleted = recordOf(answer["deleted"]);
    return `Deleted: ${numberOf(deleted["messages"])} messages, ${numberOf(deleted["media"])} files. Tool calls stay in the audit log.`;
  });
}

export function markSession(
  world: CliWorld,
  session: string,
  marks: { readonly pinned?: boolean; readonly archived?: boolean },
  flags: CommonFlags,
): Promise<number> {
  return printAnswer(world, flags, { method: "PATCH", path: pathOf(session), body: marks }, (answer) =>
    visible(`Done: ${textOf(recordOf(answer["session"])["title"])}`),
  );
}

/** Without a name it gets the one that its first message gives. */
export function renameSession(
  world: CliWorld,
  session: string,
  words: readonly string[],
  flags: CommonFlags,
): Promise<number> {
  const body = { name: words.length === 0 ? null : words.join(" ") };
  return printAnswer(world, flags, { method: "PATCH", path: pathOf(session), body }, (answer) =>
    visible(`Its name is now: ${textOf(recordOf(answer["session"])["title"])}`),
  );
}

export function setSession(
  world: CliWorld,
  session: string,
  flags: CommonFlags & { readonly model?: string; readonly thinking?: string },
): Promise<number> {
  const { model, thinking } = flags;
  const body = { ...(model === undefined ? {} : { model }), ...(thinking === undefined ? {} : { thinking }) };
  const path = `${pathOf(session)}/model`;
  return printAnswer(world, flags, { method: "POST", path, body }, (answer) => {
    const [chosen, level] = [textOf(answer["model"]), textOf(answer["thinking"])];
    return visible(`model: ${chosen || "the agent's own"}, thinking: ${level || "the agent's own"}`);
  });
}

/** A message of a session. */
interface MessageName {
  readonly session: string;
  readonly message: string | undefined;
}

export function branchSession(
  world: CliWorld,
  { session, message }: MessageName,
  flags: CommonFlags & { readonly name?: string },
): Promise<number> {
  const body = {
    ...(message === undefined ? {} : { message }),
    ...(flags.name === undefined ? {} : { session: flags.name }),
  };
  return printAnswer(world, flags, { method: "POST", path: `${pathOf(session)}/branch`, body }, (answer) =>
    visible(`${textOf(answer["title"])}: ${textOf(answer["sessionKey"])}`),
  );
}

export function resendMessage(
  world: CliWorld,
  { session, message }: MessageName,
  flags: CommonFlags & { readonly text?: string },
): Promise<number> {
  const body = { message, ...(flags.text === undefined ? {} : { text: flags.text }) };
  return printAnswer(
    world,
    flags,
    { method: "POST", path: `${pathOf(session)}/resend`, body },
    (answer) => `Sent again as ${textOf(answer["accepted"])}. See the answer with: pi-gw sessions show ${session}`,
  );
}

function pathOf(session: string): string {
  return `/api/sessions/${encodeURIComponent(session)}`;
}
