import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, request, type IncomingMessage, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { servePage } from './serve-page.ts'

let folder: string
let server: Server
let port: number

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'page-'))
  const root = join(folder, 'root')
  await mkdir(join(root, 'assets'), { recursive: true })
  await writeFile(join(folder, 'secret.js'), 'secret')
  await writeFile(join(root, 'index.html'), '<!doctype html>')
  await writeFile(join(root, 'icon.svg'), '<svg/>')
  await writeFile(join(root, 'notes.txt'), 'not of the page')
  await writeFile(join(root, 'assets', 'index-1.js'), 'run()')
  await writeFile(join(root, 'assets', 'index-1.css'), 'a{}')
  const page = servePage(root)
  server = createServer((asked, response) => {
    if (!page(asked, response)) response.writeHead(404).end('left alone')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  port = address !== null && typeof address === 'object' ? address.port : 0
})

afterAll(async () => {
  server.close()
  await rm(folder, { recursive: true, force: true })
})

/** Sends a path as it is; `fetch` would tidy it up first. */
async function ask(path: string, method = 'GET'): Promise<{ message: IncomingMessage; body: string }> {
  const sent = request({ host: '127.0.0.1', port, path, method, agent: false })
  sent.end()
  const [message]: [IncomingMessage] = await new Promise((resolve, reject) => {
    sent.once('error', reject)
    sent.once('response', (response) => resolve([response]))
  })
  message.setEncoding('utf8')
  let body = ''
  for await (const part of message) body += part
  return { message, body }
}

test.each([
  ['/', 'text/html; charset=utf-8', 'no-cache', '<!doctype html>'],
  ['/?from=mail', 'text/html; charset=utf-8', 'no-cache', '<!doctype html>'],
  ['/icon.svg', 'image/svg+xml', 'no-cache', '<svg/>'],
  ['/assets/index-1.js', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable', 'run()'],
  ['/assets/index-1.css', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable', 'a{}'],
])('%s is served with its type', async (path, type, caching, text) => {
  const { message, body } = await ask(path)
  expect([message.statusCode, message.headers['content-type'], message.headers['cache-control'], body]).toEqual([
    200,
    type,
    caching,
    text,
  ])
})

test('everything is served under a policy that allows no inline code, no other origin and no guessing of types', async () => {
  for (const path of ['/', '/assets/index-1.js']) {
    const { headers } = (await ask(path)).message
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(headers['x-content-type-options']).toBe('nosniff')
  }
})

test('scripts may call the servers that are named, and no others', async () => {
  const page = servePage(join(folder, 'root'), ['https://login.example.com/realms/one'])
  const other = createServer(page).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  const response = await fetch(
    `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}/`,
  )
  expect(response.headers.get('content-security-policy')).toContain("connect-src 'self' https://login.example.com;")
  other.close()
})

test('HEAD gives the headers alone', async () => {
  const { message, body } = await ask('/', 'HEAD')
  expect([message.statusCode, message.headers['content-length'], body]).toEqual([200, '15', ''])
})

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is not allowed on a file of the page', async (method) => {
  const { message, body } = await ask('/', method)
  expect([message.statusCode, message.headers.allow, body]).toEqual([405, 'GET, HEAD', ''])
})

test.each([
  '/mcp',
  '/index.html/',
  '/assets',
  '/assets/',
  '/notes.txt',
  '/../secret.js',
  '/assets/../../secret.js',
  '/%2e%2e/secret.js',
  '/..%2fsecret.js',
  '/..\\secret.js',
  '//secret.js',
  '/assets//index-1.js',
  '/constructor',
  '/__proto__',
  '/icon.svg%00.js',
])('%s is left to others', async (path) => {
  const { message, body } = await ask(path)
  expect([message.statusCode, body]).toEqual([404, 'left alone'])
})

test('a folder without a page is rejected, with what to do', () => {
  expect(() => servePage(join(folder, 'nowhere'))).toThrow('build it with "pnpm build"')
  expect(() => servePage(join(folder, 'root', 'assets'))).toThrow('build it with "pnpm build"')
})
