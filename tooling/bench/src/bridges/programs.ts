import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A bridge as a Node program, with the arguments of `node` for each direction that it supports. */
export interface BridgeProgram {
  readonly name: string
  readonly toStdio?: (url: string) => readonly string[]
  readonly toHttp?: (port: number) => readonly string[]
}

const require = createRequire(import.meta.url)
const besideFile = (file: string, path: string): string => join(dirname(file), path)
const builtPathOf = (program: string): string => fileURLToPath(new URL(program, import.meta.url))

const mcpRemote = besideFile(require.resolve('mcp-remote/package.json'), 'dist/proxy.js')
const supergateway = besideFile(require.resolve('supergateway/package.json'), 'dist/index.js')
// The package does not export its manifest.
const mcpProxy = besideFile(require.resolve('mcp-proxy'), 'bin/mcp-proxy.mjs')
const ours = ['--conditions=dist', builtPathOf('our-bridge-server.js')]
const server = [process.execPath, '--conditions=dist', builtPathOf('features-server.js')]

/** Our bridge and other bridges, each with the options that its documentation states for this use. */
export const bridgePrograms: readonly BridgeProgram[] = [
  {
    name: '@x/gateway',
    toStdio: (url) => [...ours, 'to-stdio', url],
    toHttp: (port) => [...ours, 'to-http', String(port), ...server],
  },
  { name: 'mcp-remote', toStdio: (url) => [mcpRemote, url, '--transport', 'http-only'] },
  {
    name: 'supergateway',
    toStdio: (url) => [supergateway, '--streamableHttp', url, '--logLevel', 'none'],
    toHttp: (port) => [
      supergateway,
      '--stdio',
      server.join(' '),
      '--port',
      String(port),
      ...'--outputTransport streamableHttp --stateful --logLevel none'.split(' '),
    ],
  },
  {
    name: 'mcp-proxy',
    toHttp: (port) => [mcpProxy, '--port', String(port), '--host', '127.0.0.1', '--server', 'stream', '--', ...server],
  },
]
