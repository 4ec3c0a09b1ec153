// What the real pi's edit tool does. Reads from standard input {"manager": <path of its session-manager.js>,
// "cases": [{"content": <base64>, "arguments": {...}}, ...]} and writes for each {"content": <base64>, "details": {...}},
// or {"error": <message>}. The files are in memory.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { manager, cases } = JSON.parse(readFileSync(0, "utf8"));
const { createEditToolDefinition } = await import(pathToFileURL(manager.replace("session-manager.js", "tools/edit.js")).href);

const answers = [];
for (const [number, { content, arguments: given }] of cases.entries()) {
    let file = Buffer.from(content, "base64");
    const operations = {
        access: async () => {},
        readFile: async () => file,
        writeFile: async (_path, text) => { file = Buffer.from(text, "utf-8"); },
    };
    const tool = createEditToolDefinition("/project", { operations });
    try {
        const result = await tool.execute(`call-${number}`, tool.prepareArguments(given), undefined, undefined, undefined);
        answers.push({ content: file.toString("base64"), details: result.details });
    } catch (error) {
        answers.push({ error: error.message });
    }
}
process.stdout.write(JSON.stringify(answers));
