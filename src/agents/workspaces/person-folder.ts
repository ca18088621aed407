/** Refuses a person's folder that is a link: agents that once worked in the folder above it may have put one there, to any place of the machine. */
import { lstat, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";

/** Makes the folder of one person when no process of theirs was started yet. Throws `home_unusable`. */
export async function preparePersonFolder(folder: string): Promise<void> {
  await refuseLinkedFolder(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** `folder`: of one person; it need not be there yet. Throws `home_unusable`. */
export async function refuseLinkedFolder(folder: string): Promise<void> {
  for (const path of [dirname(folder), folder]) {
    const found = await lstat(path).catch(() => null); // made when its first process is started
    if (found === null || found.isDirectory()) continue;
    throw new GatewayError("home_unusable", "a person's workspace is no folder of its own", {
      fields: { path },
      say: `${path} is a link or a file, so no agent works there. Look at where it leads, remove it, and write again.`,
    });
  }
}
