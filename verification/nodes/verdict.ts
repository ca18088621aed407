/**
 * The verdict of a run with several gateways: what people sent and were told, against the rows that are there in the end. It knows nothing of the
 * product but these rows. Pure; reads nothing itself.
 */

export interface SentMessage {
  readonly session: string;
  /** Within its session, from 0: whoever sends the next one has been told that this one was accepted. */
  readonly number: number;
  readonly text: string;
  /** Null: nobody was ever told that it was accepted. */
  readonly acknowledgedAt: number | null;
  /** No model can answer it: it ends with a notice, and what is behind it is answered. */
  readonly isPoisoned: boolean;
}

export interface StoredMessage {
  readonly session: string;
  readonly text: string;
  /** Null: no turn has answered it. */
  readonly turnId: string | null;
  /** Overflow came when its session was full: a turn is shown its beginning, or only how many there are. */
  readonly overflow: "none" | "shown" | "counted";
}

/** What an answer says that its model was told. */
export interface Heard {
  /** Every message whose text stands in it, in order. */
  readonly texts: readonly string[];
  /** How much overflow it was told of, counted messages among it. */
  readonly overflow: number;
}

/** What the model makes of what it is told. */
export interface Model {
  /** What it says to these words alone. */
  answerTo(text: string): string;
  heardIn(answer: string): Heard;
}

export interface StoredTurn {
  readonly id: string;
  readonly session: string;
  readonly state: "running" | "done" | "failed" | "aborted";
  readonly begunAt: number;
  readonly endedAt: number | null;
}

/** In the order in which they were stored. */
export interface StoredReply {
  readonly turnId: string;
  readonly chat: string;
  readonly text: string;
  readonly isNotice: boolean;
  readonly isSent: boolean;
  /** Its platform did not say whether it arrived, and that is recorded. */
  readonly isInDoubt: boolean;
}

export interface History {
  readonly sent: readonly SentMessage[];
  /** In the order in which they were stored. */
  readonly messages: readonly StoredMessage[];
  /** Their times are of one clock, that of the database. */
  readonly turns: readonly StoredTurn[];
  readonly replies: readonly StoredReply[];
}

export interface NodesVerdict {
  /** Acknowledged and not there, or not answered. */
  readonly lost: readonly string[];
  /** Stored twice, or answered twice: by one turn, or by two. */
  readonly doubled: readonly string[];
  /**
   * Answered with an answer to other words, to nobody, or to a message that cannot be answered. A turn answers one message, and overflow of
   * its chat besides: each shown once and in order, the others counted.
   */
  readonly wrong: readonly string[];
  readonly outOfOrder: readonly string[];
  /** Turns of one session at the same time. */
  readonly overlaps: readonly string[];
  /** Replies that are still to be delivered. */
  readonly undelivered: readonly string[];
  /** Answered by the gateway itself, because it could not be answered safely. */
  readonly notices: number;
  /** Messages that cannot be answered, and ended so. */
  readonly poisoned: number;
  /** Messages that came when their session was full. */
  readonly overflow: number;
}

export function judgeNodes(history: History, model: Model): NodesVerdict {
  const { sent } = history;
  const stored = Map.groupBy(history.messages, ({ text }) => text);
  const replies = Map.groupBy(history.replies, ({ turnId }) => turnId);
  const repliesTo = (text: string): readonly StoredReply[] => replies.get(stored.get(text)?.[0]?.turnId ?? "") ?? [];
  const answers = history.replies.filter(({ isNotice }) => !isNotice);
  const heard = countEach(answers.flatMap(({ text }) => model.heardIn(text).texts));
  const isAnsweredTwice = (text: string): boolean =>
    repliesTo(text).filter(({ isNotice }) => !isNotice).length > 1 || (heard.get(text) ?? 0) > 1;
  const poisoned = new Set(sent.filter(({ isPoisoned }) => isPoisoned).map(({ text }) => text));
  const poisonedTurns = new Set([...poisoned].map((text) => stored.get(text)?.[0]?.turnId ?? ""));
  const known = new Set(sent.map(({ text }) => text));
  const notices = history.replies.filter(({ isNotice }) => isNotice);
  return {
    lost: sent
      .filter(({ acknowledgedAt, text }) => acknowledgedAt !== null && repliesTo(text).length === 0)
      .map(({ text }) => text),
    doubled: sent
      .filter(({ text }) => (stored.get(text)?.length ?? 0) > 1 || isAnsweredTwice(text))
      .map(({ text }) => text),
    wrong: [...wrongAnswers(history, model, poisoned), ...[...stored.keys()].filter((text) => !known.has(text))],
    outOfOrder: [...overtaken(history), ...overtakenTurns(history), ...countedElsewhere(history)],
    overlaps: overlapping(history.turns),
    undelivered: history.replies.filter(({ isSent, isInDoubt }) => !isSent && !isInDoubt).map(({ text }) => text),
    notices: notices.filter(({ turnId }) => !poisonedTurns.has(turnId)).length,
    poisoned: notices.filter(({ turnId }) => poisonedTurns.has(turnId)).length,
    overflow: history.messages.filter(({ overflow }) => overflow !== "none").length,
  };
}

function countEach(texts: readonly string[]): ReadonlyMap<string, number> {
  return new Map([...Map.groupBy(texts, (text) => text)].map(([text, all]) => [text, all.length]));
}

/** Turns by the messages that the rows say they answer, in the order in which these were stored. */
export function messagesByTurn({ messages }: Pick<History, "messages">): ReadonlyMap<string, readonly StoredMessage[]> {
  return Map.groupBy(
    messages.filter(({ turnId }) => turnId !== null),
    ({ turnId }) => turnId ?? "",
  );
}

/** What a turn with these messages has to have told its model. */
export function expectedOf(own: readonly StoredMessage[]): Heard {
  const textsOf = (kind: StoredMessage["overflow"]) =>
    own.filter(({ overflow }) => overflow === kind).map(({ text }) => text);
  return {
    texts: [...textsOf("none"), ...textsOf("shown")],
    overflow: own.filter(({ overflow }) => overflow !== "none").length,
  };
}

function wrongAnswers(history: History, model: Model, poisoned: ReadonlySet<string>): string[] {
  const byTurn = messagesByTurn(history);
  const isRight = (own: readonly StoredMessage[], said: string): boolean => {
    const [first, ...others] = own.filter(({ overflow }) => overflow !== "counted");
    if (first === undefined) return false;
    const whole = model.answerTo(first.text);
    // of a message that cannot be answered, the chat may be shown how far the model came
    if (poisoned.has(first.text)) return said !== whole && whole.startsWith(said);
    if (own.length === 1 && first.overflow === "none") return said === whole;
    return Bun.deepEquals(model.heardIn(said), expectedOf(own)) && others.every(({ overflow }) => overflow === "shown");
  };
  return history.replies
    .filter(({ isNotice, turnId, text }) => !isNotice && !isRight(byTurn.get(turnId) ?? [], text))
    .map(({ turnId, chat, text }) => {
      const expected = expectedOf(byTurn.get(turnId) ?? []);
      return `${chat}, ${turnId}: "${text}", and its messages are ${JSON.stringify(expected)}`;
    });
}

/** Whoever sends waits for the word "accepted", so the order of rows is the order of numbers. */
function overtaken({ sent, messages }: History): string[] {
  const place = new Map(messages.map(({ text }, at) => [text, at]));
  return [...Map.groupBy(sent, ({ session }) => session).values()].flatMap((own) => {
    const kept = own.filter(({ text }) => place.has(text)).toSorted((a, b) => a.number - b.number);
    return kept
      .filter(({ text }, at) => at > 0 && (place.get(text) ?? 0) < (place.get(kept[at - 1]?.text ?? "") ?? 0))
      .map(({ text }) => text);
  });
}

/** A message that was accepted later is answered later; what is only counted has a rule of its own. */
function overtakenTurns({ messages, turns }: History): string[] {
  const begun = new Map(turns.map(({ id, begunAt }) => [id, begunAt]));
  return [...Map.groupBy(messages, ({ session }) => session).values()].flatMap((own) => {
    const answered = own.filter(({ turnId, overflow }) => turnId !== null && overflow !== "counted");
    return answered
      .filter(({ turnId }, at) => at > 0 && timeOf(begun, turnId) < timeOf(begun, answered[at - 1]?.turnId ?? null))
      .map(({ text }) => `${text} was begun before what came before it`);
  });
}

/** Overflow that is only counted is counted by the turn that shows the next overflow of its session. */
function countedElsewhere({ messages }: History): string[] {
  return [...Map.groupBy(messages, ({ session }) => session).values()].flatMap((own) =>
    own
      .filter(({ overflow, turnId }, at) => {
        const next = own.slice(at).find((later) => later.overflow === "shown");
        return overflow === "counted" && turnId !== null && turnId !== next?.turnId;
      })
      .map(({ text }) => `${text} was counted by another turn than that of the next overflow`),
  );
}

function timeOf(begun: ReadonlyMap<string, number>, turnId: string | null): number {
  return begun.get(turnId ?? "") ?? 0;
}

function overlapping(turns: readonly StoredTurn[]): string[] {
  return [...Map.groupBy(turns, ({ session }) => session).values()].flatMap((own) => {
    const inOrder = own.toSorted((a, b) => a.begunAt - b.begunAt);
    return inOrder
      .filter(({ begunAt }, at) => at > 0 && begunAt < (inOrder[at - 1]?.endedAt ?? Infinity))
      .map(({ id, session }) => `${id} in ${session}`);
  });
}

export function isClean(verdict: NodesVerdict): boolean {
  const { lost, doubled, wrong, outOfOrder, overlaps, undelivered } = verdict;
  return [lost, doubled, wrong, outOfOrder, overlaps, undelivered].every(({ length }) => length === 0);
}
