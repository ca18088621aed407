/** How far each channel has been read, so that what was said while the gateway was away can be fetched. Durable. */
import type { AccountState } from "../../kit/index.ts";
import { isNewer, isSnowflake } from "../settings.ts";

export interface Seen {
  /** Channels in which something was taken in, with the server each is in. */
  known(): Promise<readonly KnownChannel[]>;
  last(channel: string): Promise<string | null>;
  /** This message is stored; durable when it resolves. */
  note(channel: KnownChannel, message: string): Promise<void>;
  forget(channel: string): Promise<void>;
}

export interface KnownChannel {
  readonly id: string;
  readonly guild: string | null;
}

/** The ones used longest ago are forgotten first. */
const MAX_CHANNELS = 200;
const INDEX = "channels";

export function createSeen(facts: AccountState): Seen {
  let index: KnownChannel[] | null = null;
  const lasts = new Map<string, string>();

  const read = async (): Promise<KnownChannel[]> => {
    index ??= parseIndex(await facts.get(INDEX));
    return index;
  };
  const write = async (next: KnownChannel[]): Promise<void> => {
    await facts.put(INDEX, JSON.stringify(next.map(({ id, guild }) => [id, guild])));
    index = next; // what could not be written counts as not there, so that it is tried again
  };
  const last = async (channel: string): Promise<string | null> => {
    const known = lasts.get(channel) ?? (await facts.get(keyOf(channel)));
    if (known === null || !isSnowflake(known)) return null;
    lasts.set(channel, known);
    return known;
  };
  const forget = async (channel: string): Promise<void> => {
    lasts.delete(channel);
    await write((await read()).filter(({ id }) => id !== channel));
    await facts.forget(keyOf(channel));
  };
  const list = async (channel: KnownChannel): Promise<void> => {
    const known = await read();
    const others = known.filter(({ id }) => id !== channel.id);
    const isNew = others.length === known.length;
    // its place among the others matters only when places are scarce
    if (!isNew && (known.length < MAX_CHANNELS || known.at(-1)?.id === channel.id)) return;
    const kept = others.slice(-(MAX_CHANNELS - 1));
    await write([...kept, channel]);
    for (const { id } of others.slice(0, others.length - kept.length)) {
      lasts.delete(id);
      await facts.forget(keyOf(id));
    }
  };
  /** The list comes first: a channel that is not in it is never looked at again, whatever is noted about it. */
  const note = async (channel: KnownChannel, message: string): Promise<void> => {
    const before = await last(channel.id);
    if (before !== null && !isNewer(message, before)) return;
    await list(channel);
    await facts.put(keyOf(channel.id), message);
    lasts.set(channel.id, message);
  };
  /** One at a time: channels share the index. */
  let line: Promise<unknown> = Promise.resolve();
  const inLine = <T>(work: () => Promise<T>): Promise<T> => {
    const done = line.then(work);
    line = done.catch(() => undefined); // whoever asked sees it
    return done;
  };

  return {
    known: () => inLine(read),
    last,
    forget: (channel) => inLine(() => forget(channel)),
    note: (channel, message) => inLine(() => note(channel, message)),
  };
}

const keyOf = (channel: string) => `last:${channel}`;

function parseIndex(text: string | null): KnownChannel[] {
  const parsed: unknown = text === null ? [] : JSON.parse(text);
  if (!Array.isArray(parsed)) return [];
  return parsed.map(([id, guild]: [string, string | null]) => ({ id, guild }));
}
