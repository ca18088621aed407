/** The verdict of a chaos run: what clients said and were told, against what a fresh client reads at the end. Pure; reads nothing itself. */
import type { TranscriptItem } from "../../src/contracts/chat.ts";
import { answerTo, type Said } from "./crowd.ts";

export interface Verdict {
  /** Acknowledged and not answered, or not there at all. */
  readonly lost: readonly string[];
  /** Answered perhaps, but whoever asked still waits. */
  readonly unheard: readonly string[];
  /** Stored or answered more than once, in the conversation or before the eyes of one client. */
  readonly doubled: readonly string[];
  /** Answers to somebody else's words, or to words nobody said. */
  readonly wrong: readonly string[];
  readonly outOfOrder: readonly string[];
  /** Answered by the gateway itself, because the agent died too often under one turn. */
  readonly notices: number;
}

export interface Shown {
  readonly session: string;
  readonly ids: readonly string[];
  readonly texts: readonly string[];
}

export function judge(
  said: readonly Said[],
  transcripts: ReadonlyMap<string, readonly TranscriptItem[]>,
  shown: readonly Shown[],
): Verdict {
  const sessions = new Set([...said.map(({ session }) => session), ...transcripts.keys()]);
  const parts = [...sessions].map((session) =>
    judgeSession(
      said.filter((one) => one.session === session),
      transcripts.get(session) ?? [],
    ),
  );
  return {
    lost: parts.flatMap(({ lost }) => lost),
    unheard: said.filter(({ answers, gaveUp }) => answers.length === 0 && !gaveUp).map(({ text }) => text),
    doubled: [...parts.flatMap(({ doubled }) => doubled), ...shown.flatMap(shownTwice), ...said.flatMap(toldTwice)],
    wrong: [...parts.flatMap(({ wrong }) => wrong), ...shown.flatMap((one) => notWritten(one, transcripts))],
    outOfOrder: parts.flatMap(({ outOfOrder }) => outOfOrder),
    notices: parts.reduce((sum, { notices }) => sum + notices, 0),
  };
}

function judgeSession(said: readonly Said[], items: readonly TranscriptItem[]): Omit<Verdict, "unheard"> {
  const asked = Map.groupBy(
    items.filter(({ role }) => role === "user"),
    ({ text }) => text,
  );
  const answers = Map.groupBy(
    items.filter(({ role }) => role === "assistant"),
    ({ turnId }): string => turnId ?? "",
  );
  const answersOf = (turnId: string | null | undefined) => (turnId ? (answers.get(turnId) ?? []) : []);
  const answersTo = (text: string) => answersOf(asked.get(text)?.[0]?.turnId);
  const replies = (text: string) => answersTo(text).filter(({ kind }) => kind !== "notice");
  const known = new Set(said.map(({ text }) => text));
  const turnsAsked = new Set<string | null>(items.filter(({ role }) => role === "user").map(({ turnId }) => turnId));

  return {
    lost: said.filter(({ acknowledged, text }) => acknowledged && answersTo(text).length === 0).map(({ text }) => text),
    doubled: said
      .filter(({ text }) => (asked.get(text)?.length ?? 0) > 1 || replies(text).length > 1)
      .map(({ text }) => text),
    wrong: [
      ...[...asked.keys()].filter((text) => !known.has(text)),
      ...[...asked.keys()].filter((text) => replies(text).some((reply) => reply.text !== answerTo(text))),
      ...[...answers].filter(([turnId, all]) => !turnsAsked.has(turnId) && !all.every(isOwnerNotice)).map(([id]) => id),
    ],
    outOfOrder: [...notAscending(items), ...overtaken(said, items)],
    notices: items.filter(({ kind }) => kind === "notice").length,
  };
}

/** The owner is told, where the owner spoke last, that a reply to another chat may not have arrived. */
function isOwnerNotice({ kind, turnId }: TranscriptItem): boolean {
  return kind === "notice" && turnId?.startsWith("undelivered-") === true;
}

/** Messages are answered in the order in which they were accepted; their ids grow in that order. */
function notAscending(items: readonly TranscriptItem[]): readonly string[] {
  const ids = items.filter(({ role }) => role === "user").map(({ id }) => id);
  return ids.filter((id, at) => at > 0 && id < (ids[at - 1] ?? ""));
}

/** What one page says, it says on one connection after the other; the gateway keeps that order. Programs that ask at once have none. */
function overtaken(said: readonly Said[], items: readonly TranscriptItem[]): readonly string[] {
  const place = new Map(items.map(({ text }, at) => [text, at]));
  return [...Map.groupBy(said, ({ client }) => client)]
    .filter(([client]) => client.startsWith("page"))
    .flatMap(([, own]) => {
      const stored = own.filter(({ text }) => place.has(text));
      return stored
        .filter(({ text }, at) => (place.get(text) ?? 0) < (place.get(stored[at - 1]?.text ?? "") ?? -1))
        .map(({ text }) => text);
    });
}

function shownTwice({ texts }: Shown): readonly string[] {
  return texts.filter((text, at) => texts.indexOf(text) !== at);
}

/** A program that asked again under the same key got another answer than before. */
function toldTwice({ text, answers }: Said): readonly string[] {
  return answers.some(({ turnId, text: told }) => turnId !== answers[0]?.turnId || told !== answers[0].text)
    ? [text]
    : [];
}

/** A client saw something that is not in the conversation. */
function notWritten(
  { session, ids }: Shown,
  transcripts: ReadonlyMap<string, readonly TranscriptItem[]>,
): readonly string[] {
  const written = new Set((transcripts.get(session) ?? []).map(({ id }) => id));
  return ids.filter((id) => !written.has(id));
}
