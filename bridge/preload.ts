/**
 * Runs in an agent process before pi is loaded, and takes work off pi that has no use here: half of what a turn cost it. Everything pi asks for
 * is answered as before. A pi that the gateway did not start has none of this.
 */
import { askDiskOnce } from "./lighter-pi/disk-questions.ts";
import { writeEventsTogether } from "./lighter-pi/events-together.ts";
import { copyMessagesByHand } from "./lighter-pi/message-copies.ts";
import { writeSchemasOnce } from "./lighter-pi/tool-schemas.ts";

delete process.env.BUN_JSC_useFTLJIT; // for this process alone: programs that it starts may run for long
const folder = process.env.PI_CODING_AGENT_DIR;
if (folder !== undefined) askDiskOnce(folder);
copyMessagesByHand(writeSchemasOnce());
writeEventsTogether();
