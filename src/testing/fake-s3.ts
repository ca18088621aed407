/** An S3-compatible service on loopback with one bucket, in memory, that fails as it is told: an error, silence, or half of a body. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** `cut`: the connection ends in the middle of the body. */
export type S3Fault = "error" | "silence" | "cut" | "denied";

interface FakeS3 extends AsyncDisposable {
  readonly endpoint: string;
  readonly contents: Map<string, Buffer>;
  /** How many requests have come. */
  requests(): number;
}

export const FAKE_BUCKET = "gateway-files";
/** As few as possible, so that lists have several pages. */
const KEYS_PER_PAGE = 2;

/** `fault` is asked for each request; null: it is answered. */
export async function startFakeS3(fault: (method: string) => S3Fault | null = () => null): Promise<FakeS3> {
  const contents = new Map<string, Buffer>();
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    void answer(contents, fault(request.method ?? ""), request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    contents,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(
  contents: Map<string, Buffer>,
  fault: S3Fault | null,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://bucket");
  const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
  const key = decodeURIComponent(pathname).slice(`/${FAKE_BUCKET}/`.length);
  if (fault === "silence") return;
  if (fault === "error") return refuse(response, 500, "InternalError");
  if (fault === "denied") return refuse(response, 403, "AccessDenied");
  if (request.method === "PUT") {
    if (fault === "cut") return void response.destroy(); // before anything was kept
    contents.set(key, body);
    return void response.writeHead(200, { etag: '"x"' }).end();
  }
  if (request.method === "DELETE") {
    contents.delete(key);
    return void response.writeHead(204).end();
  }
  const data = searchParams.has("list-type") ? page(contents, searchParams.get("prefix") ?? "") : contents.get(key);
  if (data === undefined) return refuse(response, 404, "NoSuchKey");
  response.writeHead(200, { "content-length": data.length, "content-type": "application/xml" });
  if (fault !== "cut") return void response.end(data);
  response.write(data.subarray(0, data.length / 2), () => response.destroy());
}

function page(contents: ReadonlyMap<string, Buffer>, prefix: string): Buffer {
  const keys = [...contents.keys()].filter((key) => key.startsWith(prefix));
  const shown = keys.slice(0, KEYS_PER_PAGE).map((key) => `<Contents><Key>${key}</Key></Contents>`);
  const isTruncated = keys.length > KEYS_PER_PAGE;
  return Buffer.from(
    `<ListBucketResult><Name>${FAKE_BUCKET}</Name><IsTruncated>${isTruncated}</IsTruncated>${shown.join("")}</ListBucketResult>`,
  );
}

function refuse(response: ServerResponse, status: number, code: string): void {
  const body = `<Error><Code>${code}</Code><Message>as the test says</Message></Error>`;
  response.writeHead(status, { "content-type": "application/xml" }).end(body);
}
