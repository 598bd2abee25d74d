import { type Call, echoCall, expectedText } from '../http/call.ts'

/** A server with the echo tool, written as the documentation of its implementation shows. */
export interface PeerProgram {
  readonly name: string
  /** The packages that a user installs for it. */
  readonly packages: readonly string[]
  /** The built program, relative to the folder of the benchmarks. */
  readonly file: string
  /** The newest revision that it serves without a session, and 2025-06-18 in the second row of these packages. */
  readonly revision: '2026-07-28' | '2025-06-18'
}

/** The servers of the comparison. The first is the floor, and imports nothing. */
export const programs: readonly PeerProgram[] = [
  { name: 'floor', packages: [], file: 'cold/floor-server.js', revision: '2026-07-28' },
  {
    name: 'ours',
    packages: ['@x/server', '@x/transport-http', 'zod'],
    file: 'cold/our-zod-server.js',
    revision: '2026-07-28',
  },
  {
    name: 'ours, older revision',
    packages: ['@x/server', '@x/legacy', '@x/transport-http', 'zod'],
    file: 'peers/our-older-server.js',
    revision: '2025-06-18',
  },
  {
    name: 'official v2',
    packages: ['@modelcontextprotocol/server', '@modelcontextprotocol/node', 'zod'],
    file: 'cold/peer-server.js',
    revision: '2026-07-28',
  },
  {
    name: 'official v1',
    packages: ['@modelcontextprotocol/sdk', 'zod'],
    file: 'peers/official-v1-server.js',
    revision: '2025-06-18',
  },
  { name: 'FastMCP', packages: ['fastmcp', 'zod'], file: 'peers/fastmcp-server.js', revision: '2025-06-18' },
  {
    name: 'tmcp',
    packages: ['tmcp', '@tmcp/adapter-zod', '@tmcp/transport-http', '@remix-run/node-fetch-server', 'zod'],
    file: 'peers/tmcp-server.js',
    revision: '2026-07-28',
  },
  {
    name: 'mcp-lite',
    packages: ['mcp-lite', 'hono', '@hono/node-server', 'zod'],
    file: 'peers/mcp-lite-server.js',
    revision: '2025-06-18',
  },
]

const olderCall: Call = {
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'echo', arguments: { text: expectedText, times: 1 } },
  }),
  headers: {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-06-18',
  },
  expected: expectedText,
}

/** The call of the echo tool in a revision. In 2025-06-18 it belongs to no session. */
export function callOfRevision(revision: PeerProgram['revision']): Call {
  return revision === '2026-07-28' ? echoCall : olderCall
}
