/** The names of prompt templates, which people call like commands and pi fills in. */
import { templateNames } from "../agents/index.ts";
import type { TemplateNames } from "../commands/index.ts";
import type { Core } from "./core.ts";

export function promptTemplates({ config, options }: Pick<Core, "config" | "options">): TemplateNames {
  return (agentId) => {
    const { agent, agents } = config();
    const paths = agents.find(({ id }) => id === agentId)?.promptTemplates ?? agent.promptTemplates;
    return templateNames(paths, options.environment.userHome);
  };
}
