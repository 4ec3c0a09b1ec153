// Asks the real pi. Reads from standard input {"manager": <path of its session-manager.js>, "requests": [...]} and
// writes the list of answers as JSON. A request is one of
//   {"open": file}                 the file is opened as pi does; it may be changed, so it must be a copy
//   {"list": directory, "cwd": d}  sessions of an explicit session directory, in pi's order
//   {"recent": directory, "cwd": d}  the file that "continue" opens; without cwd of any working directory
//   {"directory": cwd}             where pi puts the sessions of a working directory
//   {"stable": file}               numbers (from 1) of the lines that parse-then-write would change
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { manager, requests } = JSON.parse(readFileSync(0, "utf8"));
const pi = await import(pathToFileURL(manager).href);
const MOST_APPEARANCES = 100_000;

const textOrNull = (value) => (typeof value === "string" ? value : null);

function treeEnds(entries) {
    // pi's own walk never ends where a repeated id makes a circle below a root.
    const ids = new Set(entries.map((entry) => entry.id));
    const children = new Map();
    const stack = [];
    for (const entry of entries) {
        const above = entry.parentId;
        if (above === null || above === entry.id || !ids.has(above)) stack.push(entry.id);
        else children.set(above, [...(children.get(above) ?? []), entry.id]);
    }
    let appearances = 0;
    while (stack.length > 0) {
        if (++appearances > MOST_APPEARANCES) return false;
        for (const child of children.get(stack.pop()) ?? []) stack.push(child);
    }
    return true;
}

function pathEnds(session, id) {
    const seen = new Set();
    for (let entry = session.getEntry(id); entry; entry = entry.parentId ? session.getEntry(entry.parentId) : undefined) {
        if (seen.has(entry)) return false;
        seen.add(entry);
    }
    return true;
}

function treeOf(session) {
    const roots = session.getTree();
    const children = [];
    const labels = {};
    const done = new Set();
    const stack = [...roots];
    while (stack.length > 0) {
        const node = stack.pop();
        if (done.has(node)) continue;
        done.add(node);
        if (node.children.length > 0) {
            children.push([textOrNull(node.entry.id), node.children.map((child) => textOrNull(child.entry.id))]);
        }
        if (node.label !== undefined && typeof node.entry.id === "string") {
            labels[node.entry.id] = [node.label, textOrNull(node.labelTimestamp)];
        }
        for (const child of node.children) stack.push(child);
    }
    return { roots: roots.map((node) => textOrNull(node.entry.id)), children, labels };
}

function settingsOf(session) {
    try {
        const { model, thinkingLevel } = session.buildSessionContext();
        return { model, thinkingLevel };
    } catch {
        return null; // an entry without the message that its type promises
    }
}

function open(file) {
    const before = readFileSync(file);
    let session;
    try {
        session = pi.SessionManager.open(file);
    } catch (error) {
        return { ok: false, error: error.message };
    }
    const after = readFileSync(file);
    const entries = session.getEntries();
    const leaf = session.getLeafId();
    const paths = {};
    for (const id of new Set(entries.map((entry) => entry.id))) {
        if (typeof id === "string") {
            paths[id] = pathEnds(session, id) ? session.getBranch(id).map((entry) => textOrNull(entry.id)) : null;
        }
    }
    return {
        ok: true,
        effect: after.equals(before)
            ? "none"
            : before.length === 0
              ? "header written"
              : after.length === before.length + 1 && after.subarray(0, before.length).equals(before)
                ? "appended"
                : "rewritten",
        header: session.getHeader(),
        sessionId: session.getSessionId(),
        entries,
        ids: entries.map((entry) => textOrNull(entry.id)),
        leaf: textOrNull(leaf),
        leafIsUndefined: leaf === undefined,
        name: session.getSessionName() ?? null,
        tree: treeEnds(entries) ? treeOf(session) : null,
        paths,
        settings: leaf && paths[leaf] ? settingsOf(session) : null,
    };
}

function stable(file) {
    const lines = readFileSync(file, "utf8").split("\n");
    return lines.flatMap((line, at) => (line === "" || JSON.stringify(JSON.parse(line)) === line ? [] : [at + 1]));
}

async function answer(request) {
    if (request.open) return open(request.open);
    if (request.list) return await pi.SessionManager.list(request.cwd, request.list);
    if (request.recent) return pi.findMostRecentSession(request.recent, request.cwd);
    if (request.directory) return pi.getDefaultSessionDir(request.directory);
    if (request.stable) return stable(request.stable);
    throw new Error(`unknown request ${JSON.stringify(request)}`);
}

const answers = [];
for (const request of requests) answers.push(await answer(request));
process.stdout.write(JSON.stringify(answers));
