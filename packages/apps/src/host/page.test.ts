import type { JsonObject } from '@x/schema'
import { expect, test } from 'vitest'
import { pageUriOf } from '../host.ts'
import { parsePage } from './page.ts'

const uri = 'ui://weather/page.html'
const html = '<!doctype html><title>Weather</title>'
const mimeType = 'text/html;profile=mcp-app'

const read = (content: object) =>
  parsePage(uri, {
    resultType: 'complete',
    ttlMs: 0,
    cacheScope: 'private',
    contents: [{ uri, text: html, ...content }],
  })

const readWith = (csp: JsonObject) => read({ mimeType, _meta: { ui: { csp } } }).html

test('the policy of a page is before its document, and allows nothing else by default [APP-009 APP-016]', () => {
  expect(read({ mimeType }).html).toBe(
    '<!doctype html><meta http-equiv="Content-Security-Policy" content="' +
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; " +
      "media-src data:; connect-src 'none'; frame-src 'none'; base-uri 'none'; object-src 'none'; " +
      `form-action 'none'">${html}`,
  )
})

test('a policy allows the origins that the page declares [APP-016]', () => {
  const [a, b, c, d] = ['wss://a.example', 'https://*.b.example:8443', 'https://c.example', 'https://d.example']
  const policy = readWith({ connectDomains: [a], resourceDomains: [b], frameDomains: [c], baseUriDomains: [d] })
  for (const directive of [`connect-src ${a};`, `script-src 'unsafe-inline' ${b};`, `img-src data: ${b};`])
    expect(policy).toContain(directive)
  expect(policy).toContain(`frame-src ${c}; base-uri ${d};`)
})

test('a policy leaves out values that are not origins [APP-016]', () => {
  const connectDomains = ['https://a.example; script-src *', 'https://b.example', '*', '"><script>', 7]
  const policy = readWith({ connectDomains, resourceDomains: 'https://c.example' })
  expect(policy).toContain("connect-src https://b.example; frame-src 'none'")
  expect(policy).not.toMatch(/a\.example|c\.example|<script>/)
})

test('a page can be Base64', () => {
  const content = { uri, mimeType, blob: Buffer.from('<p>Größe').toString('base64') }
  const page = parsePage(uri, { resultType: 'complete', ttlMs: 0, cacheScope: 'private', contents: [content] })
  expect(page.html).toContain('<p>Größe')
})

test('a resource of another type is not a page', () => {
  expect(() => read({ mimeType: 'text/html' })).toThrow(`has the type text/html; a page has ${mimeType}`)
})

test('a tool names its page in one of two forms', () => {
  expect(pageUriOf({ _meta: { ui: { resourceUri: uri } } })).toBe(uri)
  expect(pageUriOf({ _meta: { 'ui/resourceUri': uri } })).toBe(uri)
  expect(pageUriOf({ _meta: { ui: { resourceUri: 'https://a.example/' } } })).toBeUndefined()
  expect(pageUriOf({})).toBeUndefined()
})
