/** Images of a prompt, put into the gateway's media before they are said. */
import { GatewayError } from "../../contracts/errors.ts";
import { isObject } from "../../kit/json.ts";

interface PromptImage {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
}

/** Their media ids, in the same order. */
export async function uploadImages(
  { url, token }: { readonly url: string; readonly token: string },
  images: readonly PromptImage[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const [at, { mimeType, data }] of images.entries()) {
    const headers = {
      authorization: `Bearer ${token}`,
      "x-filename": `image-${at + 1}.${mimeType.split("/")[1] ?? "png"}`,
    };
    const body = Buffer.from(data, "base64");
    const response = await fetch(`${url}/api/media`, { method: "POST", headers, body, signal });
    const answer: unknown = await response.json().catch(() => null); // told below as what it is, no answer
    const mediaId = isObject(answer) ? answer["mediaId"] : undefined;
    if (!response.ok || typeof mediaId !== "string")
      throw new GatewayError("bad_request", `status ${response.status}`, {
        say: "The gateway did not take the image.",
      });
    ids.push(mediaId);
  }
  return ids;
}
