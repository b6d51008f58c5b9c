// Drives the official TypeScript SDK against a server and reports what the SDK saw.
//
//   node typescript.mjs v1|v2 MODE COMMAND [ARGUMENTS...]
//
// MODE is "legacy", "auto" or a revision to pin; v1 knows the first only. One JSON line is printed after the plain
// calls. After a line on standard input (by then the test holds up whoever wants to write) a call is started
// and cancelled, and a second JSON line printed.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const BRIEF = "A fictional field service team schedules equipment inspections and tracks visits.";
const CANCEL_AFTER_MS = 500;
const require = createRequire(new URL("../../.ci/package.json", import.meta.url));
const [sdk, mode, command, ...args] = process.argv.slice(2);

const SDKS = {
  v1: {
    load: () => ({
      ...require("@modelcontextprotocol/sdk/client/index.js"),
      ...require("@modelcontextprotocol/sdk/client/stdio.js"),
    }),
    options: {},
    call: (client, params, options) => client.callTool(params, undefined, options),
  },
  v2: {
    load: () => ({ ...require("@modelcontextprotocol/client"), ...require("@modelcontextprotocol/client/stdio") }),
    options: { versionNegotiation: { mode: ["legacy", "auto"].includes(mode) ? mode : { pin: mode } } },
    call: (client, params, options) => client.callTool(params, options),
  },
};

async function refusal(promise) {
  try {
    return { answered: await promise };
  } catch (error) {
    return { code: error.code, message: error.message };
  }
}

function print(report) {
  process.stdout.write(JSON.stringify(report) + "\n");
}

async function reportPlainCalls(client, revision) {
  const call = (name, values) => SDKS[sdk].call(client, { name, arguments: values });
  const { tools } = await client.listTools();
  print({
    revision: revision(),
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
    tools: tools.map((tool) => tool.name),
    many: await Promise.all(tools.map(() => call("blueprint_schema", {}))),
    quick: await call("quick", { brief: BRIEF, seed: 42, variants: 2 }),
    missing: await call("show", { slug: "there-is-none" }),
    invalid: await call("quick", { brief: "", variants: 7 }),
    cursor: await refusal(client.listTools({ cursor: "made up" })),
  });
}

async function reportCancelled(client) {
  const stop = new AbortController();
  const params = { name: "quick", arguments: { brief: BRIEF, slug: "cancelled" } };
  const outcome = refusal(SDKS[sdk].call(client, params, { signal: stop.signal }));
  setTimeout(() => stop.abort("changed my mind"), CANCEL_AFTER_MS);
  const cancelled = await outcome;
  const after = await SDKS[sdk].call(client, { name: "list", arguments: {} });
  print({ cancelled, after });
}

const { Client, StdioClientTransport } = SDKS[sdk].load();
const transport = new StdioClientTransport({ command, args });
let negotiated = null;
if (sdk === "v1") transport.setProtocolVersion = (revision) => (negotiated = revision);
const client = new Client({ name: "protoyard-tests", version: "1" }, SDKS[sdk].options);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
await client.connect(transport);
await reportPlainCalls(client, () => negotiated ?? client.getNegotiatedProtocolVersion());
await lines.next();
await reportCancelled(client);
await client.close();
process.stdin.destroy();
