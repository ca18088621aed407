/** A form with files, as one body of bytes. Names and types are ours; the boundary cannot be guessed, so content cannot end a part early. */
import type { Ids } from "../ids.ts";

export type FormPart =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly fileName: string; readonly mimeType: string; readonly data: Uint8Array };

interface MultipartBody {
  readonly headers: { readonly "content-type": string };
  readonly body: Uint8Array;
}

const BOUNDARY_BYTES = 24;

export function multipart(ids: Ids, parts: readonly FormPart[]): MultipartBody {
  const boundary = `----${ids.secret(BOUNDARY_BYTES)}`;
  const pieces = parts.flatMap((part) => {
    const file = "data" in part;
    const head = [
      `--${boundary}`,
      `content-disposition: form-data; name="${quoted(part.name)}"${file ? `; filename="${quoted(part.fileName)}"` : ""}`,
      ...(file ? [`content-type: ${part.mimeType.replaceAll(/[\r\n]/g, "")}`] : []),
    ].join("\r\n");
    return [Buffer.from(`${head}\r\n\r\n`), file ? part.data : Buffer.from(part.value), Buffer.from("\r\n")];
  });
  const body = Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
  return { headers: { "content-type": `multipart/form-data; boundary=${boundary}` }, body };
}

/** As browsers write such names. */
function quoted(text: string): string {
  return text.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}
