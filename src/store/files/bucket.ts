/** Contents of files outside of the database. */
import type { Clock } from "../../kit/clock.ts";
import type { S3Settings } from "./s3-bucket.ts";

/** A place outside of the database that keeps contents under names. A name is used once, so what it stands for never changes. */
export interface Bucket {
  put(name: string, data: Uint8Array): Promise<void>;
  /** Null: there is nothing under this name. What comes back may be cut: the caller compares digests. */
  get(name: string): Promise<Uint8Array | null>;
  /** One that is gone already is fine. */
  remove(name: string): Promise<void>;
  /** Everything whose name begins with this; nothing is fine. */
  removeAll(prefix: string): Promise<void>;
}

/** Loaded when it is set. Null: contents are in the database. */
export async function openBucket(
  deps: { readonly clock: Clock },
  settings: S3Settings | undefined,
): Promise<Bucket | null> {
  if (settings === undefined) return null;
  const { createS3Bucket } = await import("./s3-bucket.ts");
  return createS3Bucket(deps, settings);
}
