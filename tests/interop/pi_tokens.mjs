// What the real pi estimates. Reads from standard input {"manager": <path of its session-manager.js>, "files": [...]}
// and writes for each file (a copy: opening may change it) the tokens at every entry as {id: [all, by usage]}; null
// where pi fails.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { manager, files } = JSON.parse(readFileSync(0, "utf8"));
const pi = await import(pathToFileURL(manager).href);
const compaction = await import(pathToFileURL(manager.replace("session-manager.js", "compaction/compaction.js")).href);

const answers = files.map((file) => {
    const session = pi.SessionManager.open(file);
    const tokens = {};
    for (const { id } of session.getEntries()) {
        session.branch(id);
        try {
            const estimate = compaction.estimateProjectedContextTokens(
                session.buildSessionProjection(), session.getBranch());
            tokens[id] = Number.isFinite(estimate.tokens) ? [estimate.tokens, estimate.usageTokens] : null;
        } catch {
            tokens[id] = null;
        }
    }
    return tokens;
});
process.stdout.write(JSON.stringify(answers));
