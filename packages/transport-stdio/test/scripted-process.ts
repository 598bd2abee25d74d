import { connectStdio, type StdioConnection, type StdioConnectOptions } from '../src/index.ts'

const prelude = `
  const say = (message, then) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n', then)
  const lines = require('node:readline').createInterface({ input: process.stdin })
  const receive = (take) => lines.on('line', (line) => take(JSON.parse(line)))
  const result = { resultType: 'complete', supportedVersions: ['2026-07-28'] };
`

/** Connects to a server of one line of JavaScript, which has `receive`, `say` and `result`. */
export const toScript = (source: string, options: Partial<StdioConnectOptions> = {}): StdioConnection =>
  connectStdio({ command: process.execPath, args: ['-e', prelude + source], graceMs: 300, ...options })
