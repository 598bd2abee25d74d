import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { packageRoot } from '../../package-root.ts'
import { addPanels, type Panel } from './panel.ts'

/** The page as the build writes it: one file with its script and its style in it. */
const builtPage = new URL('dist/dev/index.html', packageRoot)

/** A page, and the policy that lets its own script and style run, and nothing else. */
export interface Page {
  readonly html: string
  readonly policy: string
}

/** Reads the page, with the panels in it. Undefined in a checkout whose packages were not built. */
export function readPage(panels: readonly Panel[] = [], path: URL = builtPage): Page | undefined {
  if (!existsSync(path)) return undefined
  const html = addPanels(readFileSync(path, 'utf8'), panels)
  return { html, policy: policyOf(html) }
}

/** Writes the page. */
export function writePage(page: Page | undefined, response: ServerResponse): void {
  if (page === undefined) {
    response
      .writeHead(503, { 'content-type': 'text/plain' })
      .end('The page was not built: pnpm --filter @x/cli build\n')
    return
  }
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': page.policy,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
  response.end(page.html)
}

function policyOf(html: string): string {
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
