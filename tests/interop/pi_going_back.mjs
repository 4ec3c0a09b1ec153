// What the real pi would store of a path that is left. Reads from standard input {"manager": <path of its
// session-manager.js>, "requests": [{"file": copy, "target": id}, ...]} and writes for each request
//   {"from": old leaf, "entries": ids, "read": files, "modified": files, "text": what the model is given}
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { manager, requests } = JSON.parse(readFileSync(0, "utf8"));
const load = (name) => import(pathToFileURL(manager.replace("session-manager.js", name)).href);
const { SessionManager } = await load("session-manager.js");
const { convertToLlm } = await load("messages.js");
const { collectEntriesForBranchSummary, prepareBranchEntries } = await load("compaction/branch-summarization.js");
const { computeFileLists, serializeConversation } = await load("compaction/utils.js");

const answers = requests.map(({ file, target }) => {
    const session = SessionManager.open(file);
    const from = session.getLeafId();
    const { entries } = collectEntriesForBranchSummary(session, from, target);
    const { messages, fileOps } = prepareBranchEntries(entries);
    const { readFiles, modifiedFiles } = computeFileLists(fileOps);
    const text = serializeConversation(convertToLlm(messages));
    return { from, entries: entries.map((entry) => entry.id), read: readFiles, modified: modifiedFiles, text };
});
process.stdout.write(JSON.stringify(answers));
