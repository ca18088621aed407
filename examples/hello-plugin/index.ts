/** A plugin to start from: one tool for the model, one command for people, one page, and a count that survives restarts. */
import { defineTool, type GatewayPluginApi } from "pi-gateway/plugin";

export default function hello(api: GatewayPluginApi): void {
  const greet = async (name: string): Promise<string> => {
    const count = Number((await api.storage.get("count")) ?? 0) + 1;
    await api.storage.set("count", count);
    return `${String(api.config["greeting"])}, ${name}! You are number ${count}.`;
  };

  api.registerTool(
    defineTool({
      name: "say_hello",
      description: "Greets somebody by name. Use it when you are asked to say hello.",
      parameters: {
        type: "object",
        properties: { name: { type: "string", maxLength: 100, description: "Whom to greet" } },
        required: ["name"],
        additionalProperties: false,
      },
      limit: { calls: 30, perMs: 60_000 },
      async execute(_callId, { name }) {
        return { content: [{ type: "text", text: await greet(name) }] };
      },
    }),
  );

  api.registerCommand({
    name: "hello",
    help: "Say hello",
    roles: ["owner", "member", "guest"],
    run: async (_args, { message }) => greet(message.sender.name),
  });

  api.registerRoute({ method: "GET", path: "/count", handle: async () => ({ count: await api.storage.get("count") }) });
  api.log.info("hello plugin is up");
}
