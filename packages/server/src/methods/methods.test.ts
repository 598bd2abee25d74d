import { metaKeys, protocolVersion } from '@x/schema'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createServer, prompt, resourceTemplate, type ServerDefinition, type ServerOffers } from '../index.ts'
import { resultOf } from '../testing/ask.ts'

const about = { name: 'demo', version: '1.0.0' }
const run = () => ''
const input = z.object({ a: z.string() })

test('a server says what it speaks, has and is [DIS-001 DIS-002 DIS-005 VER-003 CCH-001]', async () => {
  const icons = [{ src: 'https://example.com/a.png' }]
  const description = { title: 'Demo', description: 'Shows', icons, websiteUrl: 'https://example.com' }
  const server = createServer({ ...about, ...description, instructions: 'Be kind', tools: [] })
  const result = await resultOf(server, 'server/discover')
  expect(result).toEqual({
    resultType: 'complete',
    supportedVersions: [protocolVersion],
    capabilities: { logging: {}, tools: { listChanged: true } },
    instructions: 'Be kind',
    ttlMs: 300_000,
    cacheScope: 'public',
    _meta: { [metaKeys.serverInfo]: { ...about, ...description } },
  })
  expect(await resultOf(server, 'server/discover')).toBe(result)
  // Some hosts show the model what is in _meta, so other results name the server and do not describe it.
  expect((await resultOf(server, 'tools/list'))['_meta']).toEqual({ [metaKeys.serverInfo]: about })
})

const list = { listChanged: true }
const resources = { listChanged: true, subscribe: true }
const empty = { tools: [], prompts: [], resources: [] }
const offers: [string, ServerOffers & Pick<ServerDefinition, 'subscriptions'>, object][] = [
  ['nothing', {}, {}],
  ['empty lists', empty, { tools: list, prompts: list, resources }],
  ['empty lists and no subscriptions', { ...empty, subscriptions: false }, { tools: {}, prompts: {}, resources: {} }],
  ['templates alone', { resourceTemplates: [] }, { resources }],
  ['a prompt without completion', { prompts: [prompt('p', { input, run })] }, { prompts: list }],
  [
    'a prompt with completion',
    { prompts: [prompt('p', { input, run, complete: { a: () => [] } })] },
    { prompts: list, completions: {} },
  ],
  [
    'a template with completion',
    { resourceTemplates: [resourceTemplate('x:{a}', { name: 'x', read: run, complete: { a: () => [] } })] },
    { resources, completions: {} },
  ],
]

test.each(offers)('a server with %s declares just that [TOL-004]', async (_, given, capabilities) => {
  const result = await resultOf(createServer({ ...about, ...given }), 'server/discover')
  expect(result['capabilities']).toEqual({ logging: {}, ...capabilities })
})

test('extensions are declared with their settings [VER-004]', async () => {
  const settings = { 'com.example/a': {}, 'com.example.b/c': { size: 1 } }
  const extensions = Object.entries(settings).map(([identifier, capabilities]) => ({
    extends: 'server' as const,
    name: identifier,
    identifier,
    capabilities,
  }))
  const result = await resultOf(createServer({ ...about, extensions }), 'server/discover')
  expect(result).toMatchObject({ capabilities: { extensions: settings } })
})

test('the author says how long it may be kept, and by whom [CCH-001 CCH-014 CCH-015]', async () => {
  const server = createServer({ ...about, cache: { ttlMs: 7, scope: 'private' } })
  expect(await resultOf(server, 'server/discover')).toMatchObject({ ttlMs: 7, cacheScope: 'private' })
})
