/** Asking the gateway over the pipe: pi's dialogs carry the question out and the answer back. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { isRecord } from "./orders.ts";

/** Null when nobody answers any more. */
export async function askGateway(
  ctx: ExtensionContext,
  title: string,
  question: unknown,
  signal: AbortSignal | undefined,
): Promise<Record<string, unknown> | null> {
  const answer = await ctx.ui.input(title, JSON.stringify(question), signal ? { signal } : {});
  if (answer === undefined) return null;
  const parsed: unknown = JSON.parse(answer);
  return isRecord(parsed) ? parsed : { ok: false, text: "The gateway gave no usable answer." };
}
