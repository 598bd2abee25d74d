import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { keys } from './asking.ts'
import { bundleExample, deployFolder } from './bundle-example.ts'

const runFile = promisify(execFile)

/** Programs that call a function once, as the runtime of its platform does, and print the response. */
const runtimes = {
  lambda: `
const stream = { write: (chunk) => process.stdout.write(chunk), end: () => {}, once: () => {} }
globalThis.awslambda = { streamifyResponse: (handler) => handler, HttpResponseStream: { from: () => stream } }
const { handler } = await import('./index.mjs')
await handler(JSON.parse(process.argv[2]), stream, { getRemainingTimeInMillis: () => 5000 })
process.exit()
`,
  vercel: `
const { POST } = await import('./bundle.mjs')
const { url, ...init } = JSON.parse(process.argv[2])
const response = await POST(new Request(url, init))
process.stdout.write(JSON.stringify([response.status, await response.json()]))
process.exit()
`,
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } })
const headers = {
  host: 'mcp.example.com',
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/list',
}
const listedTools = { result: { tools: [{ name: 'greet' }, {}] } }

async function invoke(folder: string, runtime: keyof typeof runtimes, request: object): Promise<unknown> {
  await writeFile(join(folder, 'invoke.mjs'), runtimes[runtime])
  const env = { ...process.env, STATE_KEYS: keys.first, ALLOWED_HOSTS: headers.host }
  const { stdout } = await runFile(process.execPath, ['invoke.mjs', JSON.stringify(request)], { cwd: folder, env })
  return JSON.parse(stdout)
}

describe('a function of the folder', () => {
  test('api/mcp.mjs serves the tools', async () => {
    await using bundle = await bundleExample('api/mcp.mjs')
    const request = { url: 'https://mcp.example.com/api/mcp', method: 'POST', headers, body }
    expect(await invoke(bundle.folder, 'vercel', request)).toMatchObject([200, listedTools])
  })

  test('lambda.mjs, bundled with the command of the guide, serves the tools', async () => {
    const guide = await readFile(new URL('../../../docs/guides/platforms/lambda.md', import.meta.url), 'utf8')
    const command = /```sh\n(.*?)```/s.exec(guide)?.[1] ?? 'false'
    const folder = await mkdtemp(join(tmpdir(), 'lambda-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await cp(deployFolder, folder, { recursive: true })
    await symlink(fileURLToPath(new URL('../node_modules', import.meta.url)), join(folder, 'node_modules'))
    await runFile('sh', ['-c', command], { cwd: folder })
    const requestContext = { domainName: headers.host, http: { method: 'POST' } }
    const event = { rawPath: '/mcp', headers, requestContext, body }
    expect(await invoke(folder, 'lambda', event)).toMatchObject(listedTools)
  })
})
