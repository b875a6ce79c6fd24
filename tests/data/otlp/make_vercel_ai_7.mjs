// Makes vercel-ai-7.jsonl with ai 7, @ai-sdk/otel and the mock model, which answers by script.
import { generateText, registerTelemetry, stepCountIs, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { OpenTelemetry } from '@ai-sdk/otel';
import { z } from 'zod';
import { exporting, reply } from './exporting.mjs';

const provider = exporting(new URL('vercel-ai-7.jsonl', import.meta.url));
registerTelemetry(new OpenTelemetry());
const usage = { inputTokens: { total: 10, noCache: 6, cacheRead: 4 }, outputTokens: { total: 5, text: 5 } };
const model = new MockLanguageModelV4({
  modelId: 'scripted',
  doGenerate: async ({ prompt }) => {
    const content = reply(prompt);
    return { content, finishReason: { unified: content.length > 1 ? 'tool-calls' : 'stop' }, usage, warnings: [] };
  },
});
const list_files = tool({ inputSchema: z.object({ folder: z.string() }), execute: async () => ['a.py', 'b.py'] });
const read_file = tool({
  inputSchema: z.object({ path: z.string() }),
  execute: async ({ path }) => {
    throw new Error(`no such file: ${path}`);
  },
});
await generateText({
  model,
  tools: { list_files, read_file },
  stopWhen: stepCountIs(5),
  instructions: 'You list files.',
  prompt: 'How many files are in src?',
  telemetry: { functionId: 'lister' },
});
await provider.shutdown();
