// Writes spans as OTLP JSON, one export request a line; what no reader looks at is left out.
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { writeFileSync } from 'node:fs';

const LEFT_OUT = /^(ai\.prompt\.tools|ai\.request|gen_ai\.tool\.definitions|exception\.stacktrace|service\.|telemetry\.)/;

export function exporting(path) {
  const lines = [];
  const exporter = {
    export(spans, done) {
      const text = new TextDecoder().decode(JsonTraceSerializer.serializeRequest(spans));
      const kept = (_, value) => (Array.isArray(value) ? value.filter((each) => !LEFT_OUT.test(each?.key ?? '')) : value);
      lines.push(JSON.stringify(JSON.parse(text, kept)));
      done({ code: 0 });
    },
    shutdown: () => Promise.resolve(writeFileSync(path, lines.join('\n') + '\n')),
    forceFlush: () => Promise.resolve(),
  };
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  provider.register();
  return provider;
}

export const reply = (prompt) =>
  prompt.some((message) => message.role === 'tool')
    ? [{ type: 'text', text: 'There are two files.' }]
    : [
        { type: 'reasoning', text: 'I look first.' },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'list_files', input: '{"folder":"src"}' },
        { type: 'tool-call', toolCallId: 'c2', toolName: 'read_file', input: '{"path":"missing.py"}' },
      ];
