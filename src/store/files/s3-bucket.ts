/** A bucket of an S3-compatible service. Tries again what a service may answer otherwise the next time; everything has a time limit. */
import { GatewayError } from "../../contracts/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import type { Secret } from "../../kit/secret.ts";
import type { Bucket } from "./bucket.ts";

export interface S3Settings {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  /** Of every name; may be empty. */
  readonly prefix: string;
  readonly accessKeyId: Secret;
  readonly secretAccessKey: Secret;
}

interface S3Deps {
  readonly clock: Clock;
  /** Of one request. */
  readonly requestMs?: number;
}

/** Eight megabytes over a slow line. */
const REQUEST_MS = 60_000;
const MAX_ATTEMPTS = 4;
const FIRST_PAUSE_MS = 100;
/** The next request would be answered in the same way. */
const REFUSALS =
  /^(?:AccessDenied|AllAccessDisabled|InvalidAccessKeyId|InvalidBucketName|NoSuchBucket|SignatureDoesNotMatch|ERR_S3_.*)$/;
const MISSING = "NoSuchKey";
const NEVER = new AbortController().signal;

/** Its methods throw `store_failed`. Nothing that they throw contains a key. */
export function createS3Bucket({ clock, requestMs = REQUEST_MS }: S3Deps, settings: S3Settings): Bucket {
  const { prefix } = settings;
  const client = new Bun.S3Client({
    endpoint: settings.endpoint,
    bucket: settings.bucket,
    region: settings.region,
    accessKeyId: settings.accessKeyId.reveal(),
    secretAccessKey: settings.secretAccessKey.reveal(),
    retry: 0, // tried again below
  });

  const once = async <T>(request: () => Promise<T>): Promise<T> => {
    using limit = clock.deadline(requestMs, () => new Error(`no answer within ${requestMs} ms`));
    return await orAborted(request(), limit.signal);
  };

  const ask = async <T>(request: () => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(request);
      } catch (error) {
        const code = codeOf(error);
        if (code === MISSING) throw error;
        if (REFUSALS.test(code) || attempt === MAX_ATTEMPTS) throw failed(settings, error);
        await clock.sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1), NEVER);
      }
    }
  };
  const remove = (name: string) => ask(() => client.delete(name)).catch(nullIfMissing);

  return {
    async put(name, data) {
      await ask(() => client.write(prefix + name, data));
    },
    get: (name) => ask(() => client.file(prefix + name).bytes()).catch(nullIfMissing),
    async remove(name) {
      await remove(prefix + name);
    },
    async removeAll(start) {
      for (;;) {
        const { contents = [], isTruncated } = await ask(() => client.list({ prefix: prefix + start }));
        for (const { key } of contents) await remove(key);
        if (!isTruncated || contents.length === 0) return;
      }
    },
  };
}

function nullIfMissing(error: unknown): null {
  if (codeOf(error) === MISSING) return null;
  throw error;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function failed({ endpoint, bucket }: S3Settings, cause: unknown): GatewayError {
  const because = codeOf(cause) || (cause instanceof Error ? cause.message : String(cause));
  return new GatewayError("store_failed", `the bucket did not do it: ${because}`, {
    fields: { endpoint, bucket },
    say: `The bucket ${bucket} at ${endpoint} cannot be used (${because}). Check store.files, and that the service runs and accepts this key.`,
  });
}
