/** The verdict about one platform after chaos: what people said there, against what its chats show at the end. Pure; reads nothing itself. */

export interface SaidThere {
  readonly chat: string;
  readonly answer: string;
  /** The platform need not bring it again, or it is known to be stored. */
  readonly taken: boolean;
}

/** A message of the bot as people see it at the end, in the order in which it appeared. */
export interface ShownThere {
  readonly chat: string;
  readonly text: string;
  /** Which start of the gateway sent it. */
  readonly life: number;
  /** It was shown, and whoever sent it was told nothing. */
  readonly untold: boolean;
}

/** A reply that the gateway itself calls doubtful. */
export interface Doubt {
  readonly chat: string;
  readonly text: string;
}

export interface PlatformVerdict {
  readonly said: number;
  /** Taken, and neither answered nor in doubt. */
  readonly lost: readonly string[];
  /** Never taken, however long it was waited for. */
  readonly unheard: readonly string[];
  /** Shown twice without a cut or a kill to excuse it, or without a record. */
  readonly doubled: readonly string[];
  readonly doubledAndRecorded: number;
  /** In doubt, recorded, and not shown at all. */
  readonly unshownAndRecorded: number;
  /** The beginning of an answer that stands beside the whole one, without a record. */
  readonly leftOver: readonly string[];
  readonly leftOverAndRecorded: number;
  readonly outOfOrder: readonly string[];
  /** The gateway's own words, when an agent died too often under one turn. */
  readonly notices: number;
}

export interface Evidence {
  readonly said: readonly SaidThere[];
  readonly shown: readonly ShownThere[];
  readonly doubts: readonly Doubt[];
  /** Answers that will not come, because the gateway said something else instead; by chat and answer. */
  readonly excused: ReadonlySet<string>;
}

export const nameOf = ({ chat, answer }: { readonly chat: string; readonly answer: string }): string =>
  `${chat} ${answer}`;

export function judgePlatform({ said, shown, doubts, excused }: Evidence): PlatformVerdict {
  const copies = Map.groupBy(shown, ({ chat, text }) => `${chat} ${text}`);
  const doubtful = new Set(doubts.map(({ chat, text }) => `${chat} ${text}`));
  const copiesOf = (one: SaidThere) => copies.get(nameOf(one)) ?? [];
  const missing = said.filter((one) => copiesOf(one).length === 0 && !excused.has(nameOf(one)));
  const inDoubt = (one: SaidThere) => doubtful.has(nameOf(one));
  const twice = said.filter((one) => copiesOf(one).length > 1);
  const fine = twice.filter((one) => inDoubt(one) && copiesOf(one).length === 2 && isExcused(copiesOf(one)));
  const known = new Set(said.map(nameOf));
  const others = shown.filter(({ chat, text }) => !known.has(`${chat} ${text}`));
  const rests = others.flatMap((one) => {
    const whole = said.find(({ chat, answer }) => chat === one.chat && isBeginning(one.text, answer));
    return whole ? [{ whole, one }] : [];
  });
  const recorded = rests.filter(({ whole, one }) => inDoubt(whole) && (one.untold || isOlder(one, copiesOf(whole))));
  return {
    said: said.length,
    lost: missing.filter((one) => one.taken && !inDoubt(one)).map(nameOf),
    unheard: missing.filter(({ taken }) => !taken).map(nameOf),
    doubled: twice
      .filter((one) => !fine.includes(one))
      .map((one) => `${nameOf(one)}, ${copiesOf(one).length} times${inDoubt(one) ? ", and recorded" : ""}`),
    doubledAndRecorded: fine.length,
    unshownAndRecorded: missing.filter((one) => one.taken && inDoubt(one)).length,
    leftOver: rests.filter((rest) => !recorded.includes(rest)).map(({ one }) => `${one.chat} ${one.text}`),
    leftOverAndRecorded: recorded.length,
    outOfOrder: overtaken(said, shown),
    notices: others.length - rests.length,
  };
}

/** Its sender was not told, or did not live to hear it. */
function isExcused([first, second]: readonly ShownThere[]): boolean {
  return first !== undefined && second !== undefined && (first.untold || first.life !== second.life);
}

function isOlder({ life }: ShownThere, [whole]: readonly ShownThere[]): boolean {
  return whole === undefined || life < whole.life;
}

/** As a preview shows it. */
function isBeginning(text: string, answer: string): boolean {
  const words = text.replace(/ …$/, "").trimEnd();
  return words !== "" && answer.startsWith(words);
}

/** In each chat the answers appear in the order in which it was spoken. */
function overtaken(said: readonly SaidThere[], shown: readonly ShownThere[]): readonly string[] {
  const place = new Map<string, number>(
    shown.map(({ chat, text }, at) => [`${chat} ${text}`, at] as const).toReversed(),
  ); // the first copy counts
  return [...Map.groupBy(said, ({ chat }) => chat).values()].flatMap((own) => {
    const there = own.filter((one) => place.has(nameOf(one)));
    return there.filter((one, at) => at > 0 && placeIn(place, one) < placeIn(place, there[at - 1])).map(nameOf);
  });
}

function placeIn(place: ReadonlyMap<string, number>, one: SaidThere | undefined): number {
  return (one && place.get(nameOf(one))) ?? -1;
}

export function isClean({ lost, unheard, doubled, leftOver, outOfOrder }: PlatformVerdict): boolean {
  return [lost, unheard, doubled, leftOver, outOfOrder].every(({ length }) => length === 0);
}
