// Makes vercel-ai-5.jsonl with ai 5 and its mock model, which answers by script.
import { generateText, stepCountIs, tool } from 'ai';
import { MockLanguageModelV2 } from 'ai/test';
import { z } from 'zod';
import { exporting, reply } from './exporting.mjs';

const provider = exporting(new URL('vercel-ai-5.jsonl', import.meta.url));
const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 4 };
const model = new MockLanguageModelV2({
  modelId: 'scripted',
  doGenerate: async ({ prompt }) => {
    const content = reply(prompt);
    return { content, finishReason: content.length > 1 ? 'tool-calls' : 'stop', usage, warnings: [] };
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
  system: 'You list files.',
  prompt: 'How many files are in src?',
  experimental_telemetry: { isEnabled: true, functionId: 'lister', metadata: { sessionId: 'chat-1' } },
});
await provider.shutdown();
