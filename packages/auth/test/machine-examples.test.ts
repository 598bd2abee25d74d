import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryAuthStore } from '@x/auth/client'
import { createServer, tool } from '@x/server'
import { exportPKCS8, generateKeyPair, jwtVerify } from 'jose'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import * as programs from '../examples/machines.ts'
import { createScriptedAuthorizationServer } from '../src/testing/scripted-as.ts'
import { createTestEnvironment, type TestEnvironment } from '../src/testing/world.ts'

const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange'
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'auth-machines-'))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true, force: true })
})

async function itemsWorld(): Promise<TestEnvironment> {
  const world = await createTestEnvironment()
  const tools = [tool('list_items', { description: 'Lists items', run: () => 'none' })]
  world.resource.exchange = createServer({ name: 'items', version: '1.0.0', tools }).exchange
  return world
}

const formsOf = (world: TestEnvironment) =>
  world.authorizationServer.received.filter(({ path }) => path === '/token').map(({ form }) => form)

test('a job with a key lists the tools of a server', async () => {
  await using world = await itemsWorld()
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const keyFile = join(folder, 'key.pem')
  await writeFile(keyFile, await exportPKCS8(privateKey))
  const { issuer } = world.authorizationServer
  world.authorizationServer.otherGrants.set('client_credentials', async (form) => {
    await jwtVerify(form.get('client_assertion') ?? '', publicKey, { audience: issuer, subject: 'nightly' })
    return { scope: '', resource: form.get('resource') ?? '' }
  })
  expect(await programs.nightlyJob(world.resource.url, issuer, keyFile)).toEqual(['list_items'])
})

test('a workload presents the token of its platform', async () => {
  await using world = await itemsWorld()
  const tokenFile = join(folder, 'token')
  await writeFile(tokenFile, 'the.platform.token\n')
  world.authorizationServer.otherGrants.set(jwtBearer, (form) => ({ scope: '', resource: form.get('resource') ?? '' }))
  expect(await programs.importer(world.resource.url, world.authorizationServer.issuer, tokenFile)).toEqual([
    'list_items',
  ])
  expect(formsOf(world).map((form) => form.get('assertion'))).toEqual(['the.platform.token'])
})

test('a person of an enterprise is known to the server by the login at the identity provider', async () => {
  await using world = await itemsWorld()
  await using idp = await createScriptedAuthorizationServer()
  vi.stubEnv('ASSISTANT_SECRET', 'secret-1')
  vi.stubEnv('IDP_SECRET', 'secret-2')
  idp.otherGrants.set(exchange, (form) =>
    form.get('subject_token') === 'renewed'
      ? { body: { access_token: 'jag', issued_token_type: form.get('requested_token_type'), token_type: 'N_A' } }
      : { status: 400, body: { error: 'invalid_grant' } },
  )
  world.authorizationServer.otherGrants.set(jwtBearer, () => ({ scope: '', resource: world.resource.url }))
  const session = { idToken: async () => 'ended', renew: async () => 'renewed' }
  const servers = { issuer: world.authorizationServer.issuer, idp: idp.issuer }
  expect(await programs.assistant(world.resource.url, servers, session)).toEqual(['list_items'])
  expect(formsOf(world).map((form) => form.get('assertion'))).toEqual(['jag'])
})

test('a person logs in, and the tokens are bound to the key of the program', async () => {
  await using world = await itemsWorld()
  world.authorizationServer.metadata['dpop_signing_alg_values_supported'] = ['ES256']
  const store = memoryAuthStore()
  for (const runs of [1, 2]) {
    const tools = await programs.boundTools(world.resource.url, world.browser, store)
    expect([runs, tools, world.browser.visited.length]).toEqual([runs, ['list_items'], 1])
  }
  expect(world.resource.received.at(-1)?.headers.authorization).toMatch(/^DPoP /)
})
