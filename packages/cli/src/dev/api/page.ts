import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { sandboxPage } from '@x/apps/host'
import { packageRoot } from '../../package-root.ts'
import { addPanels, type Panel } from './panel.ts'

const builtPage = new URL('dist/dev/index.html', packageRoot)

/** A page, and the policy that lets its own script and style run, and nothing else. */
export interface Page {
  readonly html: string
  readonly policy: string
}

/** Undefined in a checkout whose packages were not built. */
export function readPageFile(panels: readonly Panel[], path: URL = builtPage): Page | undefined {
  if (!existsSync(path)) return undefined
  const html = addPanels(readFileSync(path, 'utf8'), panels)
  return { html, policy: ownPolicyOf(html) }
}

export function writePage(page: Page | undefined, port: number, response: ServerResponse): void {
  if (page === undefined) {
    response
      .writeHead(503, { 'content-type': 'text/plain' })
      .end('The page was not built: pnpm --filter @x/cli build\n')
    return
  }
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `${page.policy}; frame-src ${originsAt(port).join(' ')}`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
  response.end(page.html)
}

/**
 * Shows Apps in a frame of its own, opened under the other name of this machine, which makes it another origin. An App
 * brings its own policy, so this one only says who may show it.
 */
export function writeSandbox(port: number, response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `frame-ancestors ${originsAt(port).join(' ')}`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(sandboxPage)
}

function originsAt(port: number): readonly string[] {
  return [`http://127.0.0.1:${port}`, `http://localhost:${port}`]
}

function ownPolicyOf(html: string): string {
  const hashesOf = (tag: 'script' | 'style'): string =>
    Array.from(html.matchAll(new RegExp(`<${tag}[^>]*>([\\s\\S]*?)</${tag}>`, 'g')), ([, text = '']) => {
      return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
    }).join(' ')
  return [
    "default-src 'none'",
    `script-src ${hashesOf('script')}`,
    `style-src ${hashesOf('style')}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
