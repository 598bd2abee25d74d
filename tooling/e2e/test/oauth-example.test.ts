import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { findFreePort } from '@tooling/real-servers/free-port'
import { oauth } from '@x/auth/client'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { beforeEach, expect, test, vi } from 'vitest'
import { browse, scope, serveExample } from './oauth-example.ts'
import { temporaryFolder } from './older-server-peers.ts'

const callback = 'http://127.0.0.1:33419/callback'

// oidc-provider warns of its store in memory, and at its import of Node 20.
beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}))

const answer = { content: [{ type: 'text', text: 'ada' }] }

test('our client logs in at the example of the guide, as the user who is chosen on its page', async () => {
  await using example = await serveExample({ users: ['ada', 'bob'] })
  const listener = { uri: callback, visit: (url: URL) => browse(url, callback), close: async () => {} }
  const auth = oauth({ client: { name: 'ours' }, redirect: { applicationType: 'native', open: async () => listener } })
  await using client = createClient(connectHttp(example.url, { auth }), { name: 'ours', version: '1.0.0' })
  expect(await client.callTool('who_am_i')).toMatchObject({ content: [{ text: 'bob' }] })
})

test('the official client logs in at the example of the guide', async () => {
  await using example = await serveExample()
  const kept: { client?: OAuthClientInformationMixed; tokens?: OAuthTokens; verifier?: string; page?: URL } = {}
  const authProvider: OAuthClientProvider = {
    redirectUrl: callback,
    clientMetadata: { redirect_uris: [callback], client_name: 'official', scope, token_endpoint_auth_method: 'none' },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    redirectToAuthorization: (page) => void (kept.page = page),
    saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier ?? '',
  }
  const connect = async (): Promise<Client> => {
    const client = new Client({ name: 'official', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(example.url), { authProvider }))
    return client
  }
  await expect(connect()).rejects.toThrow(UnauthorizedError)
  const response = await browse(kept.page ?? new URL(callback), callback)
  const transport = new StreamableHTTPClientTransport(new URL(example.url), { authProvider })
  await transport.finishAuth(response.searchParams)
  const client = await connect()
  expect(await client.callTool({ name: 'who_am_i', arguments: {} })).toMatchObject(answer)
  await client.close()
})

test('mcp-remote, which registers with the scope of the server, logs in at the example of the guide', async () => {
  await using example = await serveExample()
  await using folder = await temporaryFolder()
  const program = join(dirname(createRequire(import.meta.url).resolve('mcp-remote/package.json')), 'dist/proxy.js')
  const port = await findFreePort()
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, example.url, String(port), '--transport', 'http-only', '--host', '127.0.0.1'],
    env: { PATH: dirname(process.execPath), HOME: folder.path, MCP_REMOTE_CONFIG_DIR: folder.path },
    stderr: 'pipe',
  })
  let printed = ''
  transport.stderr?.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
    const page = /https?:\/\/localhost:\d+\/auth\?\S+(?=\s)/.exec(printed)?.[0]
    if (page === undefined) return
    printed = ''
    const redirectUri = new URL(page).searchParams.get('redirect_uri') ?? ''
    void browse(new URL(page), redirectUri).then(fetch)
  })
  const client = new OlderClient({ name: 'older', version: '1.0.0' })
  await client.connect(transport)
  expect(await client.callTool({ name: 'who_am_i', arguments: {} })).toMatchObject(answer)
  await client.close()
})
