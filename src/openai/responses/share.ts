/** How many responses of one person are kept, as docs/responses.md says. */
import type { ResponseShare } from "../../contracts/store/responses.ts";

export const SHARE: ResponseShare = { maxResponses: 10_000, maxChars: 256 * 1024 * 1024 };
