/** A bucket that is a map. */
import type { Bucket } from "../store/files/bucket.ts";

interface MemoryBucket extends Bucket {
  readonly contents: Map<string, Uint8Array>;
}

export function createMemoryBucket(): MemoryBucket {
  const contents = new Map<string, Uint8Array>();
  return {
    contents,
    async put(name, data) {
      contents.set(name, data.slice());
    },
    get: async (name) => contents.get(name) ?? null,
    async remove(name) {
      contents.delete(name);
    },
    async removeAll(prefix) {
      for (const name of contents.keys()) if (name.startsWith(prefix)) contents.delete(name);
    },
  };
}
