/** Links to stored media that work without a sign-in for at most an hour. A link opens one file in one way and nothing else. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { MediaId } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";

export type Disposition = "inline" | "attachment";

export interface MediaLinks {
  sign(mediaId: MediaId, disposition: Disposition): string;
  /** How the file may be shown, or null when the link is not one of ours, was changed, or has expired. */
  verify(mediaId: string, query: URLSearchParams): Disposition | null;
}

const MAX_LINK_MS = 60 * 60_000;
/** Links made within the same ten minutes are equal, so that a browser finds the picture in its cache. */
const STEP_MS = 10 * 60_000;
const KNOWN_PARAMS = new Set(["exp", "sig", "disposition"]);

export function createMediaLinks(clock: Clock, key: Uint8Array): MediaLinks {
  const signature = (mediaId: string, exp: number, disposition: Disposition): Buffer =>
    createHmac("sha256", key)
      .update(JSON.stringify(["media", mediaId, exp, disposition]))
      .digest();

  return {
    sign(mediaId, disposition) {
      const exp = Math.floor((clock.now() + MAX_LINK_MS) / STEP_MS) * STEP_MS;
      const sig = signature(mediaId, exp, disposition).toString("base64url");
      const how = disposition === "inline" ? "" : `&disposition=${disposition}`;
      return `/media/${encodeURIComponent(mediaId)}?exp=${exp}&sig=${sig}${how}`;
    },
    verify(mediaId, query) {
      const names = [...query.keys()];
      if (names.some((name) => !KNOWN_PARAMS.has(name)) || new Set(names).size !== names.length) return null;
      const exp = query.get("exp") ?? "";
      const sig = Buffer.from(query.get("sig") ?? "", "base64url");
      const disposition = query.get("disposition") ?? "inline";
      if (!/^[1-9]\d{0,15}$/.test(exp) || sig.length !== 32 || sig.toString("base64url") !== query.get("sig"))
        return null;
      if (disposition !== "inline" && disposition !== "attachment") return null;
      if (!timingSafeEqual(sig, signature(mediaId, Number(exp), disposition))) return null;
      const leftMs = Number(exp) - clock.now();
      return leftMs > 0 && leftMs <= MAX_LINK_MS ? disposition : null;
    },
  };
}
