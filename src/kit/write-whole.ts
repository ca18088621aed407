/** Writes to a file until all is there: a disk that is nearly full takes a part of what it is given, and calls that a success. */

/** A file handle, as the system gives it. */
interface WritableFile {
  write(data: Uint8Array, from: number, count: number, position: number): Promise<{ readonly bytesWritten: number }>;
}

/** Returns the position behind what was written. Throws what the disk says when it takes no more. */
export async function writeWhole(file: WritableFile, data: Uint8Array, position: number): Promise<number> {
  for (let done = 0; done < data.length;) {
    const { bytesWritten } = await file.write(data, done, data.length - done, position + done);
    if (bytesWritten === 0) throw new Error("the disk took nothing");
    done += bytesWritten;
  }
  return position + data.length;
}
