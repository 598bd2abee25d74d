import { createHash } from 'node:crypto'
import { createClient } from '@x/client'
import type { JsonObject, JsonValue } from '@x/core'
import { createServer, tool } from '@x/server'
import type { Exchange } from '@x/exchange'
import { describe, expect, test } from 'vitest'
import { skills } from '../server.ts'
import { exampleFiles, skillFile, skillText } from '../testing/files.ts'
import type { Skill } from '../wire/skill.ts'
import { skillsClient } from './skills-client.ts'

const uri = 'skill://triage/SKILL.md'
const digest = `sha256:${createHash('sha256').update(skillText('triage')).digest('hex')}`
const size = skillText('triage').length

/** The entry of a skill with one file. */
const entry: Skill & JsonObject = {
  uri,
  frontmatter: { name: 'triage', description: 'Does triage' },
  resources: [{ uri, digest, size }],
}

/** A server whose responses a function changes on their way to the client. */
function connect(change: (method: string, result: JsonObject) => JsonObject = (_method, result) => result) {
  const server = createServer({
    name: 'demo',
    version: '1.0.0',
    extensions: [skills({ files: [skillFile('triage')] })],
  })
  const methods: string[] = []
  const exchange: Exchange = async (request, call) => {
    methods.push(request.method)
    const response = await server.exchange(request, call)
    return 'error' in response ? response : { ...response, result: change(request.method, response.result) }
  }
  const records: string[] = []
  const client = createClient(exchange, {
    name: 'host',
    version: '1.0.0',
    log: ({ level, message }) => void records.push(`${level}: ${message}`),
    extensions: [skillsClient()],
  })
  return { client, methods, records }
}

/** A client of a server whose entries of skills are these. */
const withEntries = (...entries: readonly JsonValue[]) =>
  connect((method, result) => {
    if (method === 'skills/list') return { ...result, skills: entries }
    return method === 'skills/get' ? { ...result, skill: entries[0] ?? null } : result
  })

/** A client of a server that returns these contents for each file. */
const withContents = (...contents: readonly JsonObject[]) =>
  connect((method, result) => (method === 'resources/read' ? { ...result, contents } : result))

describe('client.skills.list and get', () => {
  const invalidEntries: readonly [string, JsonValue, string][] = [
    ['without a URI', { ...entry, uri: null }, 'has no `uri`'],
    ['for another file', { ...entry, uri: 'skill://triage/README.md' }, 'must be the URI of a SKILL.md'],
    ['without frontmatter', { ...entry, frontmatter: null }, 'needs a `frontmatter`'],
    ['without a description', { ...entry, frontmatter: { name: 'triage' } }, 'needs a `frontmatter`'],
    ['with another name', { ...entry, frontmatter: { name: 'x', description: 'x' } }, 'name of the skill, "x"'],
    ['without resources', { ...entry, resources: null }, 'must have `resources`'],
    ['with another word', { ...entry, resources: 'static' }, 'must have `resources`'],
    ['without its own file', { ...entry, resources: [] }, 'does not list its own SKILL.md'],
    [
      'with a file twice',
      {
        ...entry,
        resources: [
          { uri, digest, size },
          { uri, digest, size },
        ],
      },
      'twice',
    ],
    ['with a file elsewhere', { ...entry, resources: [{ uri: 'file:///etc/passwd', digest, size }] }, 'outside'],
    ['with a short digest', { ...entry, resources: [{ uri, digest: 'sha256:00', size }] }, 'a SHA-256 digest'],
    ['with an uppercase digest', { ...entry, resources: [{ uri, digest: digest.toUpperCase(), size }] }, 'SHA-256'],
    ['with a negative size', { ...entry, resources: [{ uri, digest, size: -1 }] }, 'and a size'],
    ['above the limit', { ...entry, resources: [{ uri, digest, size: 16 * 1024 * 1024 + 1 }] }, 'the limits are 512'],
  ]

  test.each(invalidEntries)('refuses an entry %s [SKI-016]', async (_case, invalidEntry, message) => {
    const { client } = withEntries(invalidEntry)
    await expect(client.skills.get(uri)).rejects.toThrow(message)
  })

  test('leaves an invalid entry out of the list, and logs it', async () => {
    const { client, records } = withEntries({ ...entry, resources: null }, entry)
    expect(await client.skills.list()).toEqual([entry])
    expect(records).toEqual([expect.stringContaining('warn: A skill was left out: skill://triage/SKILL.md')])
  })

  test('accepts a skill at the limits [SKI-017]', async () => {
    const files = Array.from({ length: 511 }, (_, index) => ({ uri: `skill://triage/${index}`, digest, size: 0 }))
    const resources = [{ uri, digest, size: 16 * 1024 * 1024 }, ...files]
    expect((await withEntries({ ...entry, resources }).client.skills.get(uri)).resources).toHaveLength(512)
  })

  test('refuses the entry of another skill', async () => {
    const { client } = withEntries({ ...entry, uri: 'skill://other/triage/SKILL.md', resources: 'dynamic' })
    await expect(client.skills.get(uri)).rejects.toMatchObject({ code: 'entry' })
  })

  test('gets a skill that the list does not have [SKI-020]', async () => {
    const { client } = connect((method, result) => (method === 'skills/list' ? { ...result, skills: [] } : result))
    expect(await client.skills.list()).toEqual([])
    const skill = await client.skills.get(uri)
    expect((await client.skills.read(skill)).text).toBe(skillText('triage'))
  })

  test('ends when a server returns pages without end', async () => {
    const { client, methods } = connect((_method, result) => ({ ...result, nextCursor: uri }))
    await expect(client.skills.list()).rejects.toThrow('more than 1000 pages')
    expect(methods).toHaveLength(1000)
  })

  test('retrieves no file of a skill [SKI-029]', async () => {
    const { client, methods } = connect()
    await client.skills.list()
    await client.skills.get(uri)
    expect(methods).toEqual(['skills/list', 'skills/get'])
  })
})

describe('client.skills.read', () => {
  const text = skillText('triage')

  test('returns text and bytes that fit the entry [SKI-026]', async () => {
    const { client } = connect()
    const file = await client.skills.read(await client.skills.get(uri))
    expect(file).toEqual({ uri, mimeType: 'text/markdown', text, bytes: new TextEncoder().encode(text) })
  })

  test.each<[string, readonly JsonObject[], string]>([
    ['one byte more', [{ uri, text: `${text}\n` }], 'size'],
    ['another byte', [{ uri, text: text.replace('Does', 'Goes') }], 'digest'],
    ['bytes that are not Base64', [{ uri, blob: '*' }], 'entry'],
    ['another URI', [{ uri: 'skill://triage/other.md', text }], 'entry'],
    [
      'two contents',
      [
        { uri, text },
        { uri, text },
      ],
      'entry',
    ],
  ])('refuses a file with %s [SKI-026]', async (_case, contents, code) => {
    const { client } = withContents(...contents)
    const skill = await client.skills.get(uri)
    await expect(client.skills.read(skill)).rejects.toMatchObject({ name: 'SkillError', code })
  })

  test.each<[string, Skill['frontmatter']]>([
    ['another description', { name: 'triage', description: 'Does more' }],
    ['one member more', { name: 'triage', description: 'Does triage', 'allowed-tools': 'Bash' }],
  ])('refuses a SKILL.md when the entry has %s [SKI-028]', async (_case, frontmatter) => {
    const { client } = withEntries({ ...entry, frontmatter })
    const skill = await client.skills.get(uri)
    await expect(client.skills.read(skill)).rejects.toMatchObject({ code: 'frontmatter' })
  })

  test('sends no request for a file that the entry does not list [SKI-027]', async () => {
    const { client, methods } = connect()
    const skill = await client.skills.get(uri)
    for (const path of [
      'other.md',
      '../other/SKILL.md',
      '..',
      '/SKILL.md',
      '%2e%2e/SKILL.md',
      'skill://other/SKILL.md',
      'skill://triage/../SKILL.md',
    ]) {
      await expect(client.skills.read(skill, path)).rejects.toMatchObject({ code: 'unlisted' })
    }
    expect(methods).toEqual(['skills/get'])
  })

  test.each([
    'reference/codes.md',
    './reference/codes.md',
    'reference/old/../codes.md',
    'reference%2Fcodes.md',
    'skill://triage/reference/codes.md',
  ])('resolves %s, a relative link or the URI of a file', async (path) => {
    const server = createServer({ name: 'demo', version: '1.0.0', extensions: [skills({ files: exampleFiles })] })
    const client = createClient(server, { name: 'host', version: '1.0.0', extensions: [skillsClient()] })
    const skill = await client.skills.get(uri)
    expect((await client.skills.read(skill, path)).text).toBe('# Codes\n')
  })

  test('reads a nested SKILL.md as any other file, with any frontmatter [SKI-009]', async () => {
    const nested = { path: 'triage/nested/SKILL.md', content: skillText('nested', ['allowed-tools: Bash']) }
    const files = [skillFile('triage'), nested]
    const server = createServer({ name: 'demo', version: '1.0.0', extensions: [skills({ files })] })
    const client = createClient(server, { name: 'host', version: '1.0.0', extensions: [skillsClient()] })
    const skill = await client.skills.get(uri)
    expect((await client.skills.read(skill, 'nested/SKILL.md')).text).toBe(nested.content)
    expect(skill.frontmatter).toEqual({ name: 'triage', description: 'Does triage' })
  })

  test('refuses a skill whose files are dynamic, because none can be verified', async () => {
    const { client } = withEntries({ ...entry, resources: 'dynamic' })
    const skill = await client.skills.get(uri)
    await expect(client.skills.read(skill)).rejects.toMatchObject({ code: 'entry' })
  })

  test('reads a file again when the cache has it as it was before the entry', async () => {
    const server = createServer({
      name: 'demo',
      version: '1.0.0',
      extensions: [skills({ files: [skillFile('triage')] })],
    })
    const client = createClient(server, { name: 'host', version: '1.0.0', extensions: [skillsClient()] })
    await client.skills.read(await client.skills.get(uri))
    await server.skills.replace([skillFile('triage', ['license: MIT'])])
    const skill = await client.skills.get(uri)
    expect((await client.skills.read(skill)).text).toContain('license: MIT')
  })
})

describe('client.skills.readDirectory', () => {
  test('sends no request to a server that does not declare directories [SKI-003]', async () => {
    const methods: string[] = []
    const server = createServer({
      name: 'demo',
      version: '1.0.0',
      tools: [tool('t', { description: 'x', run: () => 'x' })],
    })
    const exchange: Exchange = (request, call) => {
      methods.push(request.method)
      return server.exchange(request, call)
    }
    const client = createClient(exchange, { name: 'host', version: '1.0.0', extensions: [skillsClient()] })
    await expect(client.skills.readDirectory('skill://triage')).rejects.toMatchObject({ code: 'entry' })
    expect(methods).toEqual(['server/discover'])
  })
})
