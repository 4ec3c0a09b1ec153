// Asks the real pi for the statistics of sessions. Reads from standard input {"core": <its dist/core folder>, "files":
// [...]} and writes the list of answers as JSON: what `/session` shows, and the costs by model. pi may change the files.
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const { core, files } = JSON.parse(readFileSync(0, "utf8"));
const load = (name) => import(pathToFileURL(path.join(core, name)).href);
const { SessionManager } = await load("session-manager.js");
const { AgentSession } = await load("agent-session.js");
const { getUsageCostBreakdown } = await load("usage-totals.js");

const answers = files.map((file) => {
    const sessionManager = SessionManager.open(file);
    const session = { sessionManager, getContextUsage: () => undefined };
    const stats = AgentSession.prototype.getSessionStats.call(session);
    return { stats, models: getUsageCostBreakdown(sessionManager.getEntries()) };
});
process.stdout.write(JSON.stringify(answers));
process.exit(0);
