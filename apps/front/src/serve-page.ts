import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { extname, join, sep } from 'node:path'

/** Answers a request for a file of the page and says `true`; leaves every other request alone and says `false`. */
export type PageHandler = (request: IncomingMessage, response: ServerResponse) => boolean

interface PageFile {
  readonly bytes: Buffer
  readonly headers: OutgoingHttpHeaders
}

const types: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
])

// What a server says is shown as text. Should some of it ever become markup, the browser still runs and loads nothing
// that does not come from here, and Preact needs none of the ways in which text becomes code.
const policy = (origins: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    ["connect-src 'self'", ...origins].join(' '),
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

/**
 * Serves the built page out of memory: what is asked for is looked up among the files that were there at the start, so
 * no path leads anywhere else. Scripts of the page may call its own origin, and those of `servers`.
 *
 * Throws an `Error` when the folder holds no page.
 */
export function servePage(root: string, servers: readonly string[] = []): PageHandler {
  const files = readPage(root, policy(servers.map((server) => new URL(server).origin)))
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    const file = files.get(path)
    if (file === undefined) return false
    if (request.method === 'GET' || request.method === 'HEAD') {
      response.writeHead(200, file.headers).end(request.method === 'HEAD' ? undefined : file.bytes)
    } else {
      response.writeHead(405, { Allow: 'GET, HEAD', 'Content-Length': 0 }).end()
    }
    return true
  }
}

/** The files by path; `/` is the page itself. */
function readPage(root: string, security: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>()
  for (const entry of listed(root)) {
    const type = types.get(extname(entry))
    if (type === undefined) continue
    const path = `/${entry.split(sep).join('/')}`
    const bytes = readFileSync(join(root, entry))
    files.set(path === '/index.html' ? '/' : path, {
      bytes,
      headers: { ...headersOf(path, type, bytes.byteLength), 'Content-Security-Policy': security },
    })
  }
  if (!files.has('/')) throw new Error(`There is no page in ${root}: build it with "pnpm build"`)
  return files
}

function listed(root: string): readonly string[] {
  try {
    return readdirSync(root, { recursive: true, encoding: 'utf8' })
  } catch (error) {
    throw new Error(`There is no page in ${root}: build it with "pnpm build"`, { cause: error })
  }
}

function headersOf(path: string, type: string, length: number): OutgoingHttpHeaders {
  return {
    'Content-Type': type,
    'Content-Length': length,
    // The names of assets change with their content; the page that names them does not.
    'Cache-Control': path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
  }
}
