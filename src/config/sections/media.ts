/** Pictures and files. */
import { Type } from "typebox";
import { closed, secretText } from "./kinds.ts";

const reach = (who: string, usual: "workspace" | "conversation") =>
  Type.Union([Type.Literal("workspace"), Type.Literal("conversation"), Type.Literal("nothing")], {
    default: usual,
    description: `Which files ${who} can be sent: every file of the agent's workspace and of media.roots (workspace), those made or received in their conversation, or none.`,
  });

export const MediaSection = Type.Object(
  {
    maxMb: Type.Integer({
      default: 25,
      minimum: 1,
      maximum: 25,
      description: "Largest file that is taken in or sent, in MiB.",
    }),
    dailyMb: Type.Integer({
      default: 200,
      minimum: 1,
      maximum: 1_000_000,
      description: "What one person may send within 24 hours, in MiB. More is not taken in, and they are told.",
    }),
    transcription: Type.Object(
      {
        baseUrl: Type.String({
          default: "https://api.groq.com/openai/v1",
          pattern: "^https?://[^\\s]+$",
          expects: "an address such as http://127.0.0.1:8000/v1",
          maxLength: 2048,
          description: "An endpoint with OpenAI's /audio/transcriptions; a server on your own machine works as well.",
        }),
        model: Type.String({
          default: "whisper-large-v3-turbo",
          minLength: 1,
          maxLength: 200,
          description: "The model that listens.",
        }),
        apiKey: secretText("Sent as a bearer token. Usually ${GROQ_API_KEY}."),
        enabled: Type.Optional(
          Type.Boolean({ description: "Left out: on when there is an apiKey, or another baseUrl than the usual one." }),
        ),
      },
      { ...closed, description: "Voice messages as words." },
    ),
    roots: Type.Array(Type.String({ pattern: "^/", expects: "an absolute path", maxLength: 4096 }), {
      default: [],
      maxItems: 32,
      description:
        "Folders besides the agent's workspace whose files the assistant may send. A folder that contains the state directory is not used.",
    }),
    send: Type.Object(
      { member: reach("members", "workspace"), guest: reach("guests", "conversation") },
      {
        ...closed,
        description:
          "Who can be sent which files. Owners can be sent all of them. Files that usually hold secrets (.env, keys, credentials) are sent to nobody.",
      },
    ),
  },
  { ...closed, description: "Pictures and files." },
);
