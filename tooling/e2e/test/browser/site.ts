import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { type Browser, chromium } from 'playwright-core'
import { listenLocally } from '../listen-locally.ts'

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Starts Chromium. */
export function launchBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args })
}

/** Bundles a script for a page. A module may await at its top level. */
export async function bundleScript(script: URL, format: 'iife' | 'esm' = 'iife'): Promise<string> {
  const result = await build({
    entryPoints: [fileURLToPath(script)],
    bundle: true,
    write: false,
    format,
    platform: 'browser',
    target: 'chrome110',
    nodePaths: [fileURLToPath(new URL('../../node_modules', import.meta.url))],
  })
  return result.outputFiles.map(({ text }) => text).join('\n')
}

/** A web server on this machine. */
export interface Site {
  readonly origin: string
  close(): void
}

/**
 * Serves documents and scripts by their paths. The origin has the name localhost, so that it differs from that of an MCP
 * server on this machine in host and port.
 */
export async function serveSite(
  files: Readonly<Record<string, string>>,
  headers: Record<string, string> = {},
): Promise<Site> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const type = pathname.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8'
    response.writeHead(files[pathname] === undefined ? 404 : 200, { 'Content-Type': type, ...headers })
    response.end(files[pathname])
  })
  return { origin: `http://localhost:${await listenLocally(server)}`, close: () => void server.close() }
}
