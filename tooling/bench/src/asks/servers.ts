import type { PeerProgram } from '../peers/programs.ts'

/** A server of the comparison. */
export interface AskingServer {
  readonly name: string
  /** The program with the echo tool, which prints its port. Undefined if its plain call is that of another row. */
  readonly call?: { readonly file: string; readonly revision: PeerProgram['revision'] }
  /** The program with the tool that asks twice, and the load that answers it. Undefined if it was not measured. */
  readonly asks?: { readonly file: string; readonly load: string }
}

const currentLoad = 'rounds/flow-client.js'
const sessionLoad = 'rounds/session-client.js'

/** The servers of the comparison. The first is the base of its ratios. */
export const askingServers: readonly AskingServer[] = [
  {
    name: 'by hand',
    call: { file: 'asks/hand-server.js', revision: '2026-07-28' },
    asks: { file: 'rounds/hand-server.js', load: currentLoad },
  },
  {
    name: 'these packages',
    call: { file: 'cold/our-zod-server.js', revision: '2026-07-28' },
    asks: { file: 'rounds/our-server.js', load: currentLoad },
  },
  { name: 'the same, schemas in the handler', asks: { file: 'rounds/our-inline-server.js', load: currentLoad } },
  {
    name: 'these packages, older clients',
    call: { file: 'peers/our-older-server.js', revision: '2025-06-18' },
    asks: { file: 'rounds/our-older-server.js', load: sessionLoad },
  },
  {
    name: 'official SDK v2',
    call: { file: 'cold/peer-server.js', revision: '2026-07-28' },
    asks: { file: 'rounds/peer-server.js', load: currentLoad },
  },
  {
    name: 'official SDK v1',
    call: { file: 'peers/official-v1-server.js', revision: '2025-06-18' },
    asks: { file: 'rounds/official-v1-server.js', load: sessionLoad },
  },
  { name: 'FastMCP', call: { file: 'peers/fastmcp-server.js', revision: '2025-06-18' } },
  { name: 'tmcp', call: { file: 'peers/tmcp-server.js', revision: '2026-07-28' } },
  { name: 'mcp-lite', call: { file: 'peers/mcp-lite-server.js', revision: '2025-06-18' } },
]
