/** A lock of the operating system on a file, which ends with the process however that dies. */
import { Database } from "bun:sqlite";
import { ensurePrivateFile } from "./private-files.ts";

/** Null: another process holds it. Throws when the file cannot be locked at all. */
export async function holdFile(file: string): Promise<Disposable | null> {
  let lock: Database | null = null;
  try {
    await ensurePrivateFile(file);
    lock = new Database(file, { readwrite: true });
    lock.exec("pragma journal_mode = off");
    lock.exec("begin exclusive"); // never ended: closing the file, or the death of the process, lets go
    const held = lock;
    return { [Symbol.dispose]: () => held.close() };
  } catch (error) {
    lock?.close();
    if (error instanceof Error && "code" in error && error.code === "SQLITE_BUSY") return null;
    throw error;
  }
}
