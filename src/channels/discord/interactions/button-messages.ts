/** Messages with buttons on Discord: how buttons are laid out, posted once and edited away. */
import type { API } from "@discordjs/core";
import type { APIMessageTopLevelComponent } from "discord-api-types/v10";
import type { ChatAddress } from "../../../contracts/chat.ts";
import { nonceOf } from "../outbound/nonce.ts";
import { channelOf } from "../outbound/send.ts";

interface Button {
  readonly label: string;
  readonly customId: string;
  /** Discord's number of a colour. */
  readonly style: number;
}

const ROW = 1;
const BUTTON = 2;
export const GREY = 2;
export const GREEN = 3;
export const RED = 4;
const ROW_BUTTONS = 5;
const MAX_ROWS = 5;
export const MAX_BUTTONS = ROW_BUTTONS * MAX_ROWS;

interface ButtonMessage {
  /** The same for the same message: Discord posts no second one under it for some minutes. */
  readonly id: string;
  readonly pieces: readonly string[];
  readonly buttons: readonly Button[];
}

/** One message for each piece, the last with the buttons. Resolves with the id of that one. */
export async function postWithButtons(
  api: API,
  to: ChatAddress,
  { id, pieces, buttons }: ButtonMessage,
  signal: AbortSignal,
): Promise<string> {
  let last = "";
  for (const [at, content] of pieces.entries()) {
    const components = at === pieces.length - 1 ? rowsOf(buttons) : [];
    const body = { content, components, nonce: nonceOf(id, at), enforce_nonce: true };
    last = (await api.channels.createMessage(channelOf(to), body, { signal })).id;
  }
  return last;
}

function rowsOf(buttons: readonly Button[]): APIMessageTopLevelComponent[] {
  const components = buttons.map(({ label, customId, style }) => ({ type: BUTTON, style, label, custom_id: customId }));
  const rows = Array.from({ length: Math.ceil(buttons.length / ROW_BUTTONS) }, (_, row) => ({
    type: ROW,
    components: components.slice(row * ROW_BUTTONS, (row + 1) * ROW_BUTTONS),
  }));
  return rows as APIMessageTopLevelComponent[];
}
