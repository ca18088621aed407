/** Whether the configuration file tells its secrets to other users of the machine. */
import { hideSecrets } from "../hidden-secrets.ts";
import { readConfigText } from "./read-file.ts";

const OTHERS_CAN_READ = 0o044;

/** The path, when the file holds secrets as they are and others can read it; null otherwise. */
export async function fileOthersCanRead(path: string | null): Promise<string | null> {
  if (path === null) return null;
  const read = await readConfigText(path, "follow");
  if (read.kind !== "text" || (read.mode & OTHERS_CAN_READ) === 0) return null;
  return hideSecrets(read.text) === read.text ? null : path;
}
