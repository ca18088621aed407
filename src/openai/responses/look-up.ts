/** What a request refers to: the responses before it, single items of earlier ones, files and images. After this it stands by itself. */
import { GatewayError } from "../../contracts/errors.ts";
import type { Principal } from "../../contracts/ids.ts";
import type { AskedResponse, GivenItem, OutputItem, ResponseObject, SaidItems } from "../../contracts/responses.ts";
import type { ResponseStore, StoredResponse } from "../../contracts/store/responses.ts";
import { isObject } from "../../kit/json.ts";
import { wrongField } from "../fields.ts";
import { type ImageDeps, inlineImages } from "../images.ts";
import { joined, type KnownItem, NOTHING_SAID, outputAsItems, saidOf } from "./conversation.ts";
import { type FileDeps, type FileReader, readFiles } from "./files.ts";
import { placeOfItem } from "./writer.ts";

/** A longer conversation is to be compacted. All of it is in memory while it is answered. */
const MAX_CHAIN = { maxResponses: 1_000, maxChars: 32 * 1024 * 1024 };

export interface LookUpDeps {
  readonly store: Pick<ResponseStore, "find" | "chain">;
  readonly images: ImageDeps;
  readonly files: FileDeps;
}

export interface Earlier {
  readonly said: SaidItems;
  /** The stored response it goes on from; null: there is none, and `said` has to be stored with the next one. */
  readonly from: Pick<StoredResponse, "id" | "chain"> | null;
}

/** Throws GatewayError with the code `previous_response_not_found`. */
export async function earlierOf(
  { store }: Pick<LookUpDeps, "store">,
  { request: { previous }, principal, recalled }: Pick<AskedResponse, "request" | "principal" | "recalled">,
): Promise<Earlier> {
  if (previous === null) return { said: NOTHING_SAID, from: null };
  const remembered = recalled?.find(previous) ?? null;
  if (remembered !== null) return { said: remembered, from: null };
  if (recalled !== null && !recalled.orStored) throw noPrevious(previous);
  const chain = await store.chain(previous, principal, MAX_CHAIN);
  if (chain === "missing") throw noPrevious(previous);
  if (chain === "too_long")
    throw wrongField(
      "previous_response_id",
      `has more before it than is read at once (${MAX_CHAIN.maxResponses} responses, ${MAX_CHAIN.maxChars} characters). Go on from an earlier one, and use /v1/responses/compact on it.`,
    );
  const last = chain.at(-1);
  if (!last?.ended) throw wrongField("previous_response_id", "names a response that is still being answered.");
  const said = chain.map(saidWith);
  if (said.includes(null)) throw noPrevious(previous); // better than to go on as if nothing had been said
  return { said: joined(...said.filter((one) => one !== null)), from: last };
}

/** With what was answered. Null: the row is damaged, or too large to be read back. */
function saidWith(stored: StoredResponse): SaidItems | null {
  const said = storedSaid(stored.said);
  const response = responseIn(stored);
  return said && response && joined(said, saidOf(outputAsItems(response.output)));
}

/** Null: the row is damaged. */
export function responseIn({ body }: Pick<StoredResponse, "body">): ResponseObject | null {
  return isObject(body) && body["object"] === "response" ? (body as unknown as ResponseObject) : null;
}

function storedSaid(said: unknown): SaidItems | null {
  return isObject(said) && Array.isArray(said["messages"]) ? (said as unknown as SaidItems) : null;
}

/** The new input alone. */
export async function knownInput(
  deps: LookUpDeps,
  { input, principal, reader }: Input,
  signal: AbortSignal,
): Promise<SaidItems> {
  const items: KnownItem[] = [];
  for (const item of input) {
    if (item.kind === "reference") items.push(...outputAsItems([await referred(deps, item, principal)]));
    else if (item.kind === "user") items.push(await knownUser(deps, item, reader, signal));
    else items.push(item);
  }
  return saidOf(items);
}

interface Input {
  readonly input: readonly GivenItem[];
  readonly principal: Principal;
  /** Whoever opens its files. */
  readonly reader: () => FileReader;
}

async function knownUser(
  deps: LookUpDeps,
  item: Extract<GivenItem, { kind: "user" }>,
  reader: () => FileReader,
  signal: AbortSignal,
): Promise<KnownItem> {
  const files = await readFiles(deps.files, item.files, reader, signal);
  const images = await inlineImages(deps.images, item.images, signal);
  const text = [item.text, ...files].filter((one) => one !== "").join("\n\n");
  return { kind: "user", text, images, files: [] };
}

async function referred(
  { store }: Pick<LookUpDeps, "store">,
  { id, param }: Extract<GivenItem, { kind: "reference" }>,
  principal: Principal,
): Promise<OutputItem> {
  const place = placeOfItem(id);
  const stored = place && (await store.find(place.responseId, principal));
  const item = stored && responseIn(stored)?.output[place.index];
  if (item?.id === id) return item;
  throw wrongField(param, `names the item ${JSON.stringify(id.slice(0, 100))}, which no stored response has.`);
}

function noPrevious(id: string): GatewayError {
  return new GatewayError("bad_request", "no such response to go on from", {
    say: `There is no response ${JSON.stringify(id.slice(0, 100))} to go on from, or one before it was deleted.`,
    fields: { param: "previous_response_id", code: "previous_response_not_found" },
  });
}
