/** The tools filter as pi understands it. What a flag forbids, nothing inside the process can switch on again. */
import type { ToolsFilter } from "../../config/index.ts";
import { PI_FILE_TOOLS, PI_SHELLS } from "../profile.ts";

export function toolFlags(tools: ToolsFilter): readonly string[] {
  if (tools === "chat") return ["--no-builtin-tools"];
  if (tools === "workspace") return ["--exclude-tools", PI_SHELLS.join(",")];
  if (tools === "full") return [];
  return tools.length === 0 ? ["--no-tools"] : ["--tools", tools.join(",")];
}

/** For pi's settings: `--tools` would keep the gateway's own tools out, so what is on from the start is said there. */
export function defaultTools(tools: ToolsFilter): { readonly defaultTools?: readonly string[] } {
  if (tools === "workspace") return { defaultTools: PI_FILE_TOOLS };
  return tools === "full" ? { defaultTools: [...PI_FILE_TOOLS, "bash"] } : {};
}
