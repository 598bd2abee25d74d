import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { keys } from './asking.ts'
import { bundleExample, deployFolder } from './bundle-example.ts'

const runFile = promisify(execFile)

/** A program that calls the function in `index.mjs` once, as the runtime of Lambda does, and prints the response. */
const invocation = `
const stream = { write: (chunk) => process.stdout.write(chunk), end: () => {}, once: () => {} }
globalThis.awslambda = { streamifyResponse: (handler) => handler, HttpResponseStream: { from: () => stream } }
const { handler } = await import('./index.mjs')
await handler(JSON.parse(process.argv[2]), stream, { getRemainingTimeInMillis: () => 5000 })
process.exit()
`

describe('a function of the folder', () => {
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
  const environment = { STATE_KEYS: keys.first, ALLOWED_HOSTS: headers.host }
  const listedTools = { result: { tools: [{ name: 'greet' }, {}] } }

  test('api/mcp.mjs serves the tools', async () => {
    const bundle = await bundleExample('api/mcp.mjs')
    onTestFinished(() => bundle[Symbol.asyncDispose]())
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { POST }: { POST: (request: Request) => Promise<Response> } = await import(bundle.path)
    const response = await POST(new Request('https://mcp.example.com/api/mcp', { method: 'POST', headers, body }))
    expect([response.status, await response.json()]).toMatchObject([200, listedTools])
  })

  test('lambda.mjs, bundled with the command of the guide, serves the tools', async () => {
    const guide = await readFile(new URL('../../../docs/guides/platforms/lambda.md', import.meta.url), 'utf8')
    const command = /```sh\n(.*?)```/s.exec(guide)?.[1] ?? 'false'
    const folder = await mkdtemp(join(tmpdir(), 'lambda-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await cp(deployFolder, folder, { recursive: true })
    await symlink(fileURLToPath(new URL('../node_modules', import.meta.url)), join(folder, 'node_modules'))
    await runFile('sh', ['-c', command], { cwd: folder })
    await writeFile(join(folder, 'invoke.mjs'), invocation)
    const requestContext = { domainName: headers.host, http: { method: 'POST' } }
    const event = JSON.stringify({ rawPath: '/mcp', headers, requestContext, body })
    const env = { ...process.env, ...environment }
    const { stdout } = await runFile(process.execPath, ['invoke.mjs', event], { cwd: folder, env })
    expect(JSON.parse(stdout)).toMatchObject(listedTools)
  })
})
