/** What Telegram accepts as formatted text: lengths in UTF-16 units, entities inside the text, properly nested, nothing inside code. */
export interface ShownEntity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
}

const CODE: readonly string[] = ["pre", "code"];
const QUOTES: readonly string[] = ["blockquote", "expandable_blockquote"];
const MAX_TEXT_UNITS = 4096;
export const MAX_CAPTION_UNITS = 1024;
const MAX_ENTITIES = 100;

/** Null when it is fine; otherwise what is wrong, in Telegram's manner. */
export function faultOf(text: string, entities: readonly ShownEntity[], maxUnits = MAX_TEXT_UNITS): string | null {
  if (text.trim() === "") return "message text is empty";
  if (text.length > maxUnits)
    return maxUnits === MAX_TEXT_UNITS ? "message is too long" : "message caption is too long";
  if (splitsPair(text, 0) || !text.isWellFormed()) return "text must be encoded in UTF-8";
  if (entities.length > MAX_ENTITIES) return "too many entities";
  for (const one of entities) {
    const end = one.offset + one.length;
    if (one.length < 1 || one.offset < 0 || end > text.length) return `entity ${one.type} is outside of the text`;
    if (splitsPair(text, one.offset) || splitsPair(text, end)) return `entity ${one.type} cuts a character`;
    if (one.type === "text_link" && !/^(https?|tg|mailto|tel):/.test(one.url ?? ""))
      return "text_link without an address";
  }
  return nestingFault(entities);
}

function nestingFault(entities: readonly ShownEntity[]): string | null {
  for (const [at, a] of entities.entries()) {
    for (const b of entities.slice(at + 1)) {
      const aEnd = a.offset + a.length;
      const bEnd = b.offset + b.length;
      if (aEnd <= b.offset || bEnd <= a.offset) continue;
      const inside = (a.offset <= b.offset && bEnd <= aEnd) || (b.offset <= a.offset && aEnd <= bEnd);
      if (!inside) return `entities ${a.type} and ${b.type} overlap`;
      if (a.type === b.type) return `entity ${a.type} is inside itself`;
      if (CODE.includes(a.type) || CODE.includes(b.type)) {
        const quoted = QUOTES.includes(a.type) || QUOTES.includes(b.type);
        if (!quoted) return `entities ${a.type} and ${b.type} cannot be combined`;
      }
    }
  }
  return null;
}

/** A position between the two halves of a character beyond the basic plane. */
function splitsPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}
